"""Every status of every delivery: the public feed, and the source of analytics."""

from msgspec import Struct

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
