"""What must not be sent any more although it is queued: read by senders right before the claim."""

from msgspec import Struct


class OptOut(Struct, frozen=True, gc=False, tag_field="kind", tag="opt_out"):
    """The user switched a category on a channel off (or on again); "*" stands for all."""

    user_id: str
    category: str
    channel: str
    stopped: bool
    at_ms: int


class Blocked(Struct, frozen=True, gc=False, tag_field="kind", tag="blocked"):
    """The user is blocked or erased, or blocked no more; an erased one gets not even what is mandatory."""

    user_id: str
    stopped: bool
    at_ms: int
    erased: bool = False


class Cancelled(Struct, frozen=True, gc=False, tag_field="kind", tag="cancelled"):
    """This notification is not to be sent any more."""

    user_id: str
    notification_id: str
    at_ms: int


Stop = OptOut | Blocked | Cancelled
