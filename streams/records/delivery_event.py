"""Every status of every delivery: the public feed, and the source of analytics."""

from msgspec import Struct

from streams.records.delivery import Delivery
from streams.statuses import Status


class DeliveryEvent(Struct, frozen=True, gc=False, omit_defaults=True):
    """One fact. The natural key is (delivery_id, status, attempt, seq), so repeats are harmless.

    `seq` tells two facts of one status and attempt apart (two deferrals of one attempt both
    stand): it is derived from the fact's instant or row, so a replay repeats it.
    """

    delivery_id: str
    notification_id: str
    tenant: str
    user_id: str
    status: Status
    type: str
    category: str
    lane: str
    channel: str
    cohort_at_ms: int
    occurred_at_ms: int
    attempt: int = 0
    seq: int = 0
    provider: str = ""
    template: str = ""
    version: int = 0
    campaign_id: str = ""
    rule: str = ""
    reason: str = ""
    error_code: str = ""
    until_ms: int = 0  # of a deferral
    provider_message_id: str = ""
    cost_micros: int = 0
    currency: str = ""
    segments: int = 0
    latency_ms: int = 0  # of the provider call, wall time
    src_topic: int = 0
    src_partition: int = 0
    src_offset: int = 0
    trace: str = ""


def event_of(
    delivery: Delivery,
    status: Status,
    occurred_at_ms: int,
    *,
    attempt: int = 0,
    seq: int = 0,
    rule: str = "",
    reason: str = "",
    until_ms: int = 0,
) -> DeliveryEvent:
    """Return the fact that `delivery` reached `status`, with all that analytics groups by."""
    return DeliveryEvent(
        delivery_id=delivery.delivery_id,
        notification_id=delivery.notification_id,
        tenant=delivery.tenant,
        user_id=delivery.user_id,
        status=status,
        type=delivery.type,
        category=delivery.category,
        lane=delivery.lane,
        channel=delivery.channel,
        cohort_at_ms=delivery.cohort_at_ms,
        occurred_at_ms=occurred_at_ms,
        attempt=attempt,
        seq=seq,
        template=delivery.template,
        version=delivery.version,
        campaign_id=delivery.campaign_id,
        rule=rule,
        reason=reason,
        until_ms=until_ms,
        src_topic=delivery.src_topic,
        src_partition=delivery.src_partition,
        src_offset=delivery.src_offset,
        trace=delivery.trace,
    )
