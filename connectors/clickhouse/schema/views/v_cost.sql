-- What providers charge, per attempt. Currencies are never added up: `currency` is part of every row.

CREATE OR REPLACE VIEW harkara.v_cost
(
    hour        DateTime('UTC')        COMMENT 'hour of admission. All columns: fresh within about 1 s',
    tenant      LowCardinality(String) COMMENT 'owner of the notification',
    campaign_id LowCardinality(String) COMMENT 'campaign, empty outside one',
    channel     LowCardinality(String) COMMENT 'push, sms, …',
    lane        LowCardinality(String) COMMENT 'critical, transactional or bulk',
    type        LowCardinality(String) COMMENT 'notification type',
    template    LowCardinality(String) COMMENT 'template pinned at admission',
    provider    LowCardinality(String) COMMENT 'provider that charges',
    currency    LowCardinality(String) COMMENT 'never add rows of different currencies',
    messages    UInt64                 COMMENT 'sends the provider took; a delivery tried at two providers has two',
    segments    UInt64                 COMMENT 'SMS segments of these',
    cost_micros Int64                  COMMENT 'cost in millionths of a unit of currency'
)
AS
SELECT
    toStartOfHour(e.cohort_at) AS hour,
    e.tenant AS tenant,
    e.campaign_id AS campaign_id,
    e.channel AS channel,
    e.lane AS lane,
    e.type AS type,
    e.template AS template,
    e.provider AS provider,
    e.currency AS currency,
    countIf(e.stage = 'sent') AS messages,
    sum(e.segments) AS segments,
    sum(e.cost_micros) AS cost_micros
FROM harkara.delivery_event AS e FINAL
WHERE e.stage = 'sent' OR e.cost_micros != 0
GROUP BY hour, tenant, campaign_id, channel, lane, type, template, provider, currency
SETTINGS do_not_merge_across_partitions_select_final = 1;
