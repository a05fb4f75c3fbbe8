"""The public event: "tell this user about that". Producers name a type and give data."""

from typing import Any

from msgspec import Struct


class Notification(Struct, frozen=True, gc=False, omit_defaults=True):
    """One event on `ingest.<lane>`; the record's key is `user_id`, the tenant comes from the topic.

    Times are milliseconds since the epoch. At least one of `notification_id` and
    `idempotency_key` is required (design §10).
    """

    user_id: str
    type: str
    data: dict[str, Any]
    notification_id: str = ""
    idempotency_key: str = ""
    created_at: int | None = None
    send_at: int | None = None
    expires_at: int | None = None
    locale: str = ""
    channels: tuple[str, ...] | None = None  # narrows the type's channels, never widens
    campaign_id: str = ""
    address: dict[str, str] | None = None  # channel -> verified address, for direct types only
    trace: str = ""
    source: str = ""
