-- The funnel by hour of admission: each delivery counts once, where it stands now. Counting is not
-- idempotent, so it happens in a refreshable view that reads merged states, never in an insert view.
--
-- An hour is counted again when something was written into it since its last count. The window thus
-- starts at each hour's own last successful refresh: receipts may come days late, a stack that was
-- down catches up, and a refresh that failed half-way is made good by the next. The overlap covers
-- inserts that were under way. The hour is always counted whole.
-- Every refresh writes all rows of an hour with one `refreshed_at`; readers take the newest set, so a
-- row whose key is gone (a delivery found its provider) leaves nothing stale behind.

CREATE TABLE IF NOT EXISTS harkara.touched_hour
(
    hour       DateTime('UTC')          COMMENT 'hour of admission',
    touched_at DateTime64(3, 'UTC')     COMMENT 'last insert into it, server clock'
)
ENGINE = ReplacingMergeTree(touched_at)
ORDER BY hour
TTL hour + INTERVAL 180 DAY
COMMENT 'Hours of admission and when something was last written into each.';

CREATE MATERIALIZED VIEW IF NOT EXISTS harkara.touched_hour_mv TO harkara.touched_hour AS
SELECT toStartOfHour(e.cohort_at) AS hour, max(now64(3, 'UTC')) AS touched_at
FROM harkara.delivery_event AS e
GROUP BY hour;

CREATE TABLE IF NOT EXISTS harkara.funnel_hour
(
    hour         DateTime('UTC'),
    tenant       LowCardinality(String),
    campaign_id  LowCardinality(String),
    channel      LowCardinality(String),
    lane         LowCardinality(String),
    type         LowCardinality(String),
    category     LowCardinality(String),
    template     LowCardinality(String),
    version      UInt32,
    provider     LowCardinality(String),
    accepted     UInt64,
    pending      UInt64,
    sent         UInt64,
    delivered    UInt64,
    read         UInt64,
    clicked      UInt64,
    bounced      UInt64,
    failed       UInt64,
    expired      UInt64,
    suppressed   UInt64,
    cancelled    UInt64,
    merged       UInt64,
    unknown      UInt64,
    duplicates   UInt64,
    sent_latency AggregateFunction(quantilesTDigest(0.5, 0.95, 0.99), UInt32),
    refreshed_at DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(refreshed_at)
PARTITION BY toYYYYMM(hour)
ORDER BY (tenant, campaign_id, channel, hour, lane, type, category, template, version, provider)
TTL hour + INTERVAL 180 DAY
COMMENT 'Funnel by hour; read it through v_funnel. Refreshed every minute.';

CREATE MATERIALIZED VIEW IF NOT EXISTS harkara.funnel_hour_rmv
REFRESH EVERY 1 MINUTE APPEND TO harkara.funnel_hour EMPTY AS
WITH stale AS
(
    SELECT t.hour AS hour
    FROM (SELECT hour, max(touched_at) AS touched FROM harkara.touched_hour GROUP BY hour) AS t
    LEFT JOIN (SELECT hour, max(refreshed_at) AS refreshed FROM harkara.funnel_hour GROUP BY hour) AS f ON f.hour = t.hour
    WHERE t.touched >= f.refreshed - INTERVAL 10 MINUTE
)
SELECT
    d.hour AS hour,
    d.tenant AS tenant,
    d.campaign_id AS campaign_id,
    d.channel AS channel,
    d.lane AS lane,
    d.type AS type,
    d.category AS category,
    d.template AS template,
    d.version AS version,
    d.provider AS provider,
    countIf(d.rank > 5) AS accepted,
    countIf(d.rank IN (10, 20, 25, 30)) AS pending,
    countIf(d.rank >= 70) AS sent,
    countIf(d.rank >= 80) AS delivered,
    countIf(d.rank >= 90) AS read,
    countIf(d.rank = 100) AS clicked,
    countIf(d.rank = 75) AS bounced,
    countIf(d.rank = 60) AS failed,
    countIf(d.rank = 50) AS expired,
    countIf(d.rank = 45) AS suppressed,
    countIf(d.rank = 55) AS cancelled,
    countIf(d.rank = 40) AS merged,
    countIf(d.rank = 35) AS unknown,
    countIf(d.rank = 5) AS duplicates,
    quantilesTDigestStateIf(0.5, 0.95, 0.99)(d.sent_ms, d.sent_ms < 4294967295) AS sent_latency,
    now64(3, 'UTC') AS refreshed_at
FROM
(
    SELECT
        toStartOfHour(s.cohort_at) AS hour,
        max(s.tenant) AS tenant,
        max(s.campaign_id) AS campaign_id,
        max(s.channel) AS channel,
        max(s.lane) AS lane,
        max(s.type) AS type,
        max(s.category) AS category,
        max(s.template) AS template,
        max(s.version) AS version,
        tupleElement(max(s.last_provider), 'provider') AS provider,
        tupleElement(max(s.standing), 'rank') AS rank,
        min(s.sent_ms) AS sent_ms
    FROM harkara.delivery_state AS s
    WHERE toStartOfHour(s.cohort_at) IN (SELECT hour FROM stale)
    GROUP BY s.delivery_id, s.cohort_at
    UNION ALL
    SELECT
        toStartOfHour(e.cohort_at) AS hour,
        e.tenant AS tenant,
        e.campaign_id AS campaign_id,
        e.channel AS channel,
        e.lane AS lane,
        e.type AS type,
        e.category AS category,
        e.template AS template,
        e.version AS version,
        e.provider AS provider,
        toUInt8(e.stage) AS rank,
        toUInt32(4294967295) AS sent_ms
    FROM harkara.delivery_event AS e FINAL
    WHERE e.stage = 'duplicate' AND toStartOfHour(e.cohort_at) IN (SELECT hour FROM stale)
) AS d
GROUP BY hour, tenant, campaign_id, channel, lane, type, category, template, version, provider
SETTINGS do_not_merge_across_partitions_select_final = 1;
