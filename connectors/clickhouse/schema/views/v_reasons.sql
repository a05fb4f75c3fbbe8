-- Why deliveries were not sent, or not yet.

CREATE OR REPLACE VIEW harkara.v_reasons
(
    hour        DateTime('UTC') COMMENT 'hour of admission. All columns: fresh within about 1 s',
    tenant      String          COMMENT 'owner of the notification',
    campaign_id String          COMMENT 'campaign, empty outside one',
    channel     String          COMMENT 'push, sms, …',
    lane        String          COMMENT 'critical, transactional or bulk',
    type        String          COMMENT 'notification type',
    category    String          COMMENT 'category of the type',
    status      String          COMMENT 'present status: one that is not sent, or bounced',
    settled     UInt8           COMMENT '0: not yet; 1: never, by the pipeline itself',
    reason      String          COMMENT 'machine-readable reason; the status itself where nobody gave one',
    rule        String          COMMENT 'rule or step that gave it',
    error_code  String          COMMENT 'the provider''s code, empty without a provider',
    deliveries  UInt64          COMMENT 'deliveries that stand there for that reason'
)
AS
SELECT
    hour, tenant, campaign_id, channel, lane, type, category, status, settled,
    if(reason = '', toString(status), reason) AS reason,
    rule, error_code,
    count() AS deliveries
FROM harkara.v_delivery
WHERE rank < 70 OR status = 'bounced'
GROUP BY hour, tenant, campaign_id, channel, lane, type, category, status, settled, reason, rule, error_code;
