-- How providers answered, in steps of five minutes of the answer's own time.

CREATE OR REPLACE VIEW harkara.v_provider_health
(
    at          DateTime('UTC')        COMMENT 'start of the five minutes. All columns: fresh within about 1 s',
    provider    LowCardinality(String) COMMENT 'provider that was called',
    channel     LowCardinality(String) COMMENT 'push, sms, …',
    lane        LowCardinality(String) COMMENT 'critical, transactional or bulk',
    calls       UInt64                 COMMENT 'attempts with an end: sent + refused + retried + unknown',
    sent        UInt64                 COMMENT 'attempts the provider took',
    refused     UInt64                 COMMENT 'attempts refused for good',
    retried     UInt64                 COMMENT 'attempts that will be made again: throttled, unavailable, …',
    throttled   UInt64                 COMMENT 'of retried: refused for rate',
    unknown     UInt64                 COMMENT 'attempts without a verdict',
    error_share Float64                COMMENT 'share of calls that were not taken, 0 to 1',
    p50_ms      UInt32                 COMMENT 'wall time of a call, median, ms',
    p99_ms      UInt32                 COMMENT 'wall time of a call, 99 of 100 were faster, ms',
    last_error  LowCardinality(String) COMMENT 'the provider''s code of the latest attempt not taken'
)
AS
SELECT
    toStartOfInterval(e.occurred_at, INTERVAL 5 MINUTE) AS at,
    e.provider AS provider,
    e.channel AS channel,
    e.lane AS lane,
    count() AS calls,
    countIf(e.stage = 'sent') AS sent,
    countIf(e.stage = 'failed') AS refused,
    countIf(e.stage = 'attempted') AS retried,
    countIf(e.stage = 'attempted' AND e.reason = 'throttled') AS throttled,
    countIf(e.stage = 'unknown') AS unknown,
    1 - sent / calls AS error_share,
    quantileExact(0.5)(e.latency_ms) AS p50_ms,
    quantileExact(0.99)(e.latency_ms) AS p99_ms,
    argMaxIf(e.error_code, (e.occurred_at, e.delivery_id, e.attempt), e.stage != 'sent') AS last_error
FROM harkara.delivery_event AS e FINAL
WHERE e.provider != '' AND e.stage IN ('sent', 'failed', 'attempted', 'unknown')
GROUP BY at, provider, channel, lane
SETTINGS do_not_merge_across_partitions_select_final = 1;
