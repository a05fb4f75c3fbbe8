"""The public event: "tell this user about that". Producers name a type and give data."""

from typing import Annotated, Any

from msgspec import Meta, Struct

_Name = Annotated[str, Meta(max_length=64)]
_Id = Annotated[str, Meta(max_length=128)]
_Key = Annotated[str, Meta(max_length=255)]  # longer ones are refused, never cut (DED-05)
_Address = Annotated[str, Meta(min_length=1, max_length=4096)]


class Notification(Struct, frozen=True, gc=False, omit_defaults=True):
    """One event on `ingest.<lane>`; the record's key is `user_id`, the tenant comes from the topic.

    Times are milliseconds since the epoch. At least one of `notification_id` and
    `idempotency_key` is required (design §10).
    """

    user_id: Annotated[str, Meta(min_length=1, max_length=128)]
    type: _Name
    data: dict[str, Any]
    notification_id: _Id = ""
    idempotency_key: _Key = ""
    created_at: int | None = None
    send_at: int | None = None
    expires_at: int | None = None
    locale: Annotated[str, Meta(max_length=35)] = ""  # none: the user's own language
    channels: Annotated[tuple[_Name, ...], Meta(min_length=1, max_length=8)] | None = (
        None  # narrows the type's
    )
    campaign_id: _Id = ""
    address: dict[_Name, _Address] | None = None  # channel -> verified address, for direct types only
    trace: Annotated[str, Meta(max_length=1024)] = ""
    source: Annotated[str, Meta(max_length=255)] = ""
