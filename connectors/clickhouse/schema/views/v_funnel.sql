-- The funnel, ready to be added up over any columns.

CREATE OR REPLACE VIEW harkara.v_funnel
(
    hour         DateTime('UTC')        COMMENT 'hour of admission',
    tenant       LowCardinality(String) COMMENT 'owner of the notification',
    campaign_id  LowCardinality(String) COMMENT 'campaign, empty outside one',
    channel      LowCardinality(String) COMMENT 'push, sms, …; empty for duplicates',
    lane         LowCardinality(String) COMMENT 'critical, transactional or bulk',
    type         LowCardinality(String) COMMENT 'notification type',
    category     LowCardinality(String) COMMENT 'category of the type',
    template     LowCardinality(String) COMMENT 'template pinned at admission',
    version      UInt32                 COMMENT 'version of the template',
    provider     LowCardinality(String) COMMENT 'provider of the last attempt, empty before one',
    accepted     UInt64                 COMMENT 'deliveries = pending + sent + failed + expired + suppressed + cancelled + merged + unknown. Counts: as of refreshed_at',
    pending      UInt64                 COMMENT 'deliveries the pipeline still works on: queued, deferred, sending',
    sent         UInt64                 COMMENT 'deliveries the provider took, whatever came of them; never called delivered',
    delivered    UInt64                 COMMENT 'of sent: known to have arrived (read and clicked imply it)',
    read         UInt64                 COMMENT 'of delivered: known to be read (clicked implies it)',
    clicked      UInt64                 COMMENT 'of read: known to be clicked',
    bounced      UInt64                 COMMENT 'of sent: came back',
    failed       UInt64                 COMMENT 'refused for good, or attempts used up',
    expired      UInt64                 COMMENT 'too late to be sent',
    suppressed   UInt64                 COMMENT 'not sent by a rule; v_reasons says which',
    cancelled    UInt64                 COMMENT 'called back or replaced',
    merged       UInt64                 COMMENT 'went into a digest',
    unknown      UInt64                 COMMENT 'nobody can tell whether the provider took it',
    duplicates   UInt64                 COMMENT 'events that came again; they made no delivery and are no part of accepted',
    refreshed_at DateTime64(3, 'UTC')   COMMENT 'when this hour was counted: at most a minute after its last change; SYSTEM REFRESH VIEW harkara.funnel_hour_rmv counts now'
)
AS
SELECT
    hour, tenant, campaign_id, channel, lane, type, category, template, version, provider,
    accepted, pending, sent, delivered, read, clicked, bounced, failed, expired, suppressed, cancelled, merged, unknown,
    duplicates, refreshed_at
FROM harkara.funnel_hour
WHERE (hour, refreshed_at) IN (SELECT hour, max(refreshed_at) FROM harkara.funnel_hour GROUP BY hour);
