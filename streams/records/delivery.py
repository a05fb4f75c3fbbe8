"""One message on one channel to one endpoint: the unit that is sent, retried and counted (R-061)."""

from typing import Any

from msgspec import Struct


class Delivery(Struct, frozen=True, gc=False, omit_defaults=True):
    """What a sender needs: what to send, to which endpoint, which attempt, until when.

    `cohort_at_ms` is the admission's instant and never changes; `decided_at_ms` is the last
    decision's. `send_until_ms` = min(expiry, next quiet start, decided_at + the lane's
    freshness): past it the router decides again. Template and version are pinned (R-059).
    """

    delivery_id: str
    notification_id: str
    tenant: str
    user_id: str
    type: str
    category: str
    lane: str
    channel: str
    endpoint: str
    address: str
    template: str
    version: int
    locale: str
    data: dict[str, Any]
    cohort_at_ms: int
    decided_at_ms: int
    send_until_ms: int
    expires_at_ms: int
    attempt: int = 1  # the next attempt's number
    uncounted: int = 0  # earlier attempts that do not count towards the maximum
    step: int = 0
    mandatory: bool = False
    reserves: bool = False  # holds a place under a cap
    purpose: str = ""  # of a one-time password: a newer one replaces it
    campaign_id: str = ""
    src_topic: int = 0
    src_partition: int = 0
    src_offset: int = 0
    trace: str = ""
