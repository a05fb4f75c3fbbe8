-- Every status of every delivery, one row a fact. The natural key makes repeats harmless: the same
-- fact again replaces itself, and of two the one that occurred first stays (`ver`).
-- Read it with FINAL, or count distinct keys; never count() it: merges happen when they happen.
-- Partitioned by the day of admission, which every event carries and no event changes: a repeat
-- always meets its first copy. No address, no text, no user id: `user_hash` is a keyed hash.

CREATE DATABASE IF NOT EXISTS harkara;

CREATE TABLE IF NOT EXISTS harkara.delivery_event
(
    tenant              LowCardinality(String)                                COMMENT 'owner of the notification',
    campaign_id         LowCardinality(String)                                COMMENT 'campaign, empty outside one',
    channel             LowCardinality(String)                                COMMENT 'push, sms, …; empty for duplicates',
    cohort_at           DateTime64(3, 'UTC')      CODEC(Delta, ZSTD(1))       COMMENT 'admission of the event; never changes',
    delivery_id         UUID                      CODEC(ZSTD(1))              COMMENT 'one message on one channel to one endpoint',
    stage               Enum8('duplicate' = 5, 'accepted' = 10, 'planned' = 20, 'deferred' = 25, 'attempted' = 30, 'unknown' = 35, 'merged' = 40, 'suppressed' = 45, 'expired' = 50, 'cancelled' = 55, 'failed' = 60, 'sent' = 70, 'bounced' = 75, 'delivered' = 80, 'read' = 90, 'clicked' = 100)
                                                                              COMMENT 'status by its analytics name; the number is its rank',
    attempt             UInt8                                                 COMMENT 'attempt the fact is about, from 1; 0 before any',
    seq                 UInt64                    CODEC(Delta, ZSTD(1))       COMMENT 'tells facts of one stage and attempt apart',
    occurred_at         DateTime64(3, 'UTC')      CODEC(Delta, ZSTD(1))       COMMENT 'when it happened, by the clock of who says so',
    notification_id     String                    CODEC(ZSTD(1))              COMMENT 'the event that asked for the delivery',
    type                LowCardinality(String)                                COMMENT 'notification type',
    category            LowCardinality(String)                                COMMENT 'category of the type',
    lane                LowCardinality(String)                                COMMENT 'critical, transactional or bulk',
    provider            LowCardinality(String)                                COMMENT 'provider of the attempt, empty without one',
    template            LowCardinality(String)                                COMMENT 'template pinned at admission',
    version             UInt32                    CODEC(T64, ZSTD(1))         COMMENT 'version of the template',
    rule                LowCardinality(String)                                COMMENT 'rule that decided',
    reason              LowCardinality(String)                                COMMENT 'why it was not sent, or not yet',
    error_code          LowCardinality(String)                                COMMENT 'the provider''s own code',
    until_at            DateTime64(3, 'UTC')      CODEC(Delta, ZSTD(1))       COMMENT 'end of a deferral; 1970 when none',
    provider_message_id String                    CODEC(ZSTD(1))              COMMENT 'the provider''s id of the message',
    cost_micros         Int64                     CODEC(T64, ZSTD(1))         COMMENT 'millionths of a unit of currency',
    currency            LowCardinality(String)                                COMMENT 'currency of the cost, empty without cost',
    segments            UInt8                                                 COMMENT 'SMS segments',
    latency_ms          UInt32                    CODEC(T64, ZSTD(1))         COMMENT 'wall time of the provider call, ms',
    user_hash           UInt64                    CODEC(ZSTD(1))              COMMENT 'keyed hash of the user id',
    src_topic           UInt8                                                 COMMENT 'wire number of the source topic',
    src_partition       UInt16                    CODEC(T64, ZSTD(1))         COMMENT 'partition of the source record',
    src_offset          UInt64                    CODEC(Delta, ZSTD(1))       COMMENT 'offset of the source record',
    ingested_at         DateTime('UTC')           DEFAULT now() CODEC(Delta, ZSTD(1))       COMMENT 'when this row was written',
    ver                 UInt64                    DEFAULT 18446744073709551615 - toUInt64(toUnixTimestamp64Milli(occurred_at)) CODEC(Delta, ZSTD(1)) COMMENT 'of equal facts the highest stays: the earliest',
    INDEX ix_delivery delivery_id TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX ix_notification notification_id TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX ix_user user_hash TYPE bloom_filter(0.01) GRANULARITY 1,
    -- Seconds or microseconds in place of milliseconds: refused, else the TTL would eat the row unseen.
    CONSTRAINT cohort_in_milliseconds CHECK cohort_at >= toDateTime64('2001-09-09 00:00:00', 3, 'UTC') AND cohort_at < toDateTime64('2100-01-01 00:00:00', 3, 'UTC'),
    CONSTRAINT occurred_in_milliseconds CHECK occurred_at >= toDateTime64('2001-09-09 00:00:00', 3, 'UTC') AND occurred_at < toDateTime64('2100-01-01 00:00:00', 3, 'UTC')
)
ENGINE = ReplacingMergeTree(ver)
PARTITION BY toYYYYMMDD(cohort_at)
PRIMARY KEY (tenant, campaign_id, channel, toStartOfHour(cohort_at), delivery_id)
ORDER BY (tenant, campaign_id, channel, toStartOfHour(cohort_at), delivery_id, stage, attempt, seq)
TTL toDateTime(cohort_at) + INTERVAL 180 DAY
SETTINGS ttl_only_drop_parts = 1
COMMENT 'Delivery events, one row a fact; read with FINAL. Fresh within one sink batch (about 1 s).';
