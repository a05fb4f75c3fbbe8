-- Where each delivery stands: an insert-triggered view that holds only idempotent aggregates (min,
-- max, bit-or, distinct), so a replayed block changes nothing. Sums and counts never live here.
-- Never chain another insert-triggered view on this table: it would see partial states.
--
-- `standing` is the delivery's place in its life, as one tuple whose maximum is the present:
--   weight    0 while it is open; its stage's rank once it is settled. Sent and its receipts outrank
--             every settled state without a send. A bounce on e-mail outranks `delivered`, not `read`.
--   attempt   among open states the later attempt wins: an unknown outcome that is tried again is open
--   unknown   1 for an unknown outcome: it outranks open states of its own attempt
--   moment    open: the later wins. Settled: negative, so that the first of repeated receipts wins

CREATE TABLE IF NOT EXISTS harkara.delivery_state
(
    delivery_id     UUID,
    cohort_at       DateTime64(3, 'UTC')                                  CODEC(Delta, ZSTD(1)),
    notification_id SimpleAggregateFunction(max, String)                  CODEC(ZSTD(1)),
    tenant          SimpleAggregateFunction(max, LowCardinality(String)),
    campaign_id     SimpleAggregateFunction(max, LowCardinality(String)),
    channel         SimpleAggregateFunction(max, LowCardinality(String)),
    lane            SimpleAggregateFunction(max, LowCardinality(String)),
    type            SimpleAggregateFunction(max, LowCardinality(String)),
    category        SimpleAggregateFunction(max, LowCardinality(String)),
    template        SimpleAggregateFunction(max, LowCardinality(String)),
    version         SimpleAggregateFunction(max, UInt32),
    user_hash       SimpleAggregateFunction(max, UInt64),
    standing        SimpleAggregateFunction(max, Tuple(weight UInt8, attempt UInt8, unknown UInt8, moment Int64, rank UInt8, reason String, rule String, error_code String, until_ms Int64)),
    stages          SimpleAggregateFunction(groupBitOr, UInt32),
    attempts        SimpleAggregateFunction(max, UInt8),
    last_provider   SimpleAggregateFunction(max, Tuple(attempt UInt8, rank UInt8, provider String)),
    messages        SimpleAggregateFunction(groupUniqArrayArray, Array(UInt64)),
    sent_ms         SimpleAggregateFunction(min, UInt32),
    delivered_ms    SimpleAggregateFunction(min, UInt32),
    read_ms         SimpleAggregateFunction(min, UInt32),
    src_topic       SimpleAggregateFunction(max, UInt8),
    src_partition   SimpleAggregateFunction(max, UInt16),
    src_offset      SimpleAggregateFunction(max, UInt64)                  CODEC(ZSTD(1))
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMMDD(cohort_at)
ORDER BY (delivery_id, cohort_at)
TTL toDateTime(cohort_at) + INTERVAL 180 DAY
SETTINGS ttl_only_drop_parts = 1
COMMENT 'State of each delivery, partly merged; read it through v_delivery. Fresh within about 1 s.';

CREATE MATERIALIZED VIEW IF NOT EXISTS harkara.delivery_state_mv TO harkara.delivery_state AS
SELECT
    e.delivery_id AS delivery_id,
    e.cohort_at AS cohort_at,
    max(e.notification_id) AS notification_id,
    max(e.tenant) AS tenant,
    max(e.campaign_id) AS campaign_id,
    max(e.channel) AS channel,
    max(e.lane) AS lane,
    max(e.type) AS type,
    max(e.category) AS category,
    max(e.template) AS template,
    max(e.version) AS version,
    max(e.user_hash) AS user_hash,
    max(tuple(
        multiIf(toUInt8(e.stage) < 40, toUInt8(0), e.stage = 'bounced' AND e.channel = 'email', toUInt8(85), toUInt8(e.stage)),
        e.attempt,
        toUInt8(e.stage = 'unknown'),
        if(toUInt8(e.stage) < 40, toUnixTimestamp64Milli(e.occurred_at), -toUnixTimestamp64Milli(e.occurred_at)),
        toUInt8(e.stage),
        toString(e.reason),
        toString(e.rule),
        toString(e.error_code),
        toUnixTimestamp64Milli(e.until_at)
    )) AS standing,
    groupBitOr(bitShiftLeft(toUInt32(1), intDiv(toUInt8(e.stage), 5))) AS stages,
    max(e.attempt) AS attempts,
    max(if(e.provider = '', tuple(toUInt8(0), toUInt8(0), ''), tuple(e.attempt, toUInt8(e.stage), toString(e.provider)))) AS last_provider,
    groupUniqArrayArray(if(e.stage = 'sent' AND e.provider_message_id != '', [cityHash64(e.provider_message_id)], emptyArrayUInt64())) AS messages,
    min(if(e.stage = 'sent', toUInt32(least(greatest(dateDiff('millisecond', e.cohort_at, e.occurred_at), 0), 4294967294)), toUInt32(4294967295))) AS sent_ms,
    min(if(e.stage = 'delivered', toUInt32(least(greatest(dateDiff('millisecond', e.cohort_at, e.occurred_at), 0), 4294967294)), toUInt32(4294967295))) AS delivered_ms,
    min(if(e.stage = 'read', toUInt32(least(greatest(dateDiff('millisecond', e.cohort_at, e.occurred_at), 0), 4294967294)), toUInt32(4294967295))) AS read_ms,
    max(e.src_topic) AS src_topic,
    max(e.src_partition) AS src_partition,
    max(e.src_offset) AS src_offset
FROM harkara.delivery_event AS e
WHERE e.stage != 'duplicate'
GROUP BY e.delivery_id, e.cohort_at;
