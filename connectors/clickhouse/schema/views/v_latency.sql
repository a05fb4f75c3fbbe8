-- How long deliveries took from admission, by hour of admission. Quantiles are exact for a row and
-- cannot be added up: for other slices ask v_delivery, or merge funnel_hour.sent_latency
-- (quantilesTDigestMerge, the newest refreshed_at of an hour).

CREATE OR REPLACE VIEW harkara.v_latency
(
    hour             DateTime('UTC')   COMMENT 'hour of admission. All columns: fresh within about 1 s',
    tenant           String            COMMENT 'owner of the notification',
    lane             String            COMMENT 'critical, transactional or bulk',
    channel          String            COMMENT 'push, sms, …',
    type             String            COMMENT 'notification type',
    provider         String            COMMENT 'provider of the last attempt',
    sent             UInt64            COMMENT 'deliveries that were sent',
    sent_p50_ms      UInt32            COMMENT 'admission to sent, median, ms',
    sent_p95_ms      UInt32            COMMENT 'admission to sent, 95 of 100 were faster, ms',
    sent_p99_ms      UInt32            COMMENT 'admission to sent, 99 of 100 were faster, ms',
    sent_max_ms      UInt32            COMMENT 'admission to sent, the slowest, ms',
    delivered        UInt64            COMMENT 'deliveries with a receipt of arrival',
    delivered_p50_ms Nullable(UInt32)  COMMENT 'admission to delivered, median, ms; null without receipts',
    delivered_p99_ms Nullable(UInt32)  COMMENT 'admission to delivered, 99 of 100 were faster, ms; null without receipts'
)
AS
SELECT
    d.hour AS hour,
    d.tenant AS tenant,
    d.lane AS lane,
    d.channel AS channel,
    d.type AS type,
    d.provider AS provider,
    count() AS sent,
    quantileExact(0.5)(assumeNotNull(d.sent_ms)) AS sent_p50_ms,
    quantileExact(0.95)(assumeNotNull(d.sent_ms)) AS sent_p95_ms,
    quantileExact(0.99)(assumeNotNull(d.sent_ms)) AS sent_p99_ms,
    max(assumeNotNull(d.sent_ms)) AS sent_max_ms,
    count(d.delivered_ms) AS delivered,
    quantileExactOrNull(0.5)(d.delivered_ms) AS delivered_p50_ms,
    quantileExactOrNull(0.99)(d.delivered_ms) AS delivered_p99_ms
FROM harkara.v_delivery AS d
WHERE d.sent_ms IS NOT NULL
GROUP BY hour, tenant, lane, channel, type, provider;
