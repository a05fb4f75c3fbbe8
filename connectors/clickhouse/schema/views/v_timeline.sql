-- Everything that happened to a delivery, a row a fact.

CREATE OR REPLACE VIEW harkara.v_timeline
(
    occurred_at         DateTime64(3, 'UTC')   COMMENT 'when it happened. All columns: fresh within about 1 s',
    delivery_id         UUID                   COMMENT 'one message on one channel to one endpoint; derived for duplicates',
    notification_id     String                 COMMENT 'the event that asked for it',
    tenant              LowCardinality(String) COMMENT 'owner of the notification',
    user_hash           UInt64                 COMMENT 'keyed hash of the user id',
    status              LowCardinality(String) COMMENT 'status, in the vocabulary of docs/analytics.md',
    stage               LowCardinality(String) COMMENT 'the same by its analytics name',
    attempt             UInt8                  COMMENT 'attempt the fact is about, from 1; 0 before any',
    type                LowCardinality(String) COMMENT 'notification type',
    category            LowCardinality(String) COMMENT 'category of the type',
    lane                LowCardinality(String) COMMENT 'critical, transactional or bulk',
    channel             LowCardinality(String) COMMENT 'push, sms, …; empty for duplicates',
    campaign_id         LowCardinality(String) COMMENT 'campaign, empty outside one',
    provider            LowCardinality(String) COMMENT 'provider of the attempt, empty without one',
    template            LowCardinality(String) COMMENT 'template pinned at admission',
    version             UInt32                 COMMENT 'version of the template',
    rule                LowCardinality(String) COMMENT 'rule or step that decided',
    reason              LowCardinality(String) COMMENT 'why it was not sent, or not yet',
    error_code          LowCardinality(String) COMMENT 'the provider''s own code',
    until_at            DateTime64(3, 'UTC')   COMMENT 'end of a deferral; 1970 when none',
    provider_message_id String                 COMMENT 'the provider''s id of the message',
    cost_micros         Int64                  COMMENT 'millionths of a unit of currency',
    currency            LowCardinality(String) COMMENT 'currency of the cost',
    segments            UInt8                  COMMENT 'SMS segments',
    latency_ms          UInt32                 COMMENT 'wall time of the provider call, ms',
    cohort_at           DateTime64(3, 'UTC')   COMMENT 'admission of the event',
    src_topic           UInt8                  COMMENT 'wire number of the source topic',
    src_partition       UInt16                 COMMENT 'partition of the source record',
    src_offset          UInt64                 COMMENT 'offset of the source record'
)
AS
SELECT
    occurred_at, delivery_id, notification_id, tenant, user_hash,
    transform(stage, ['planned', 'attempted'], ['queued', 'sending'], toString(stage)) AS status,
    toString(stage) AS stage,
    attempt, type, category, lane, channel, campaign_id, provider, template, version, rule, reason, error_code,
    until_at, provider_message_id, cost_micros, currency, segments, latency_ms, cohort_at,
    src_topic, src_partition, src_offset
FROM harkara.delivery_event FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1;
