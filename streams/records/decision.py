"""What the router decided for one delivery: a closed union, recorded in state and repeated on replay."""

from msgspec import Struct

from streams.reasons import Reason


class Reservation(Struct, frozen=True, gc=False, array_like=True):
    """A place under a cap: held by a notification from its intended instant on (R-129).

    `category` and `channel` let caps of different width count the same list.
    """

    notification_id: str
    at_ms: int  # intended instant of sending
    category: str
    channels: tuple[str, ...]


class Target(Struct, frozen=True, gc=False, array_like=True):
    """The delivery a decision is about."""

    delivery_id: str
    channel: str
    endpoint: str  # the user's device id, or the contact's slot; "" while unknown
    address: str = ""  # token, number, …; "" when there is none


class Deliver(Struct, frozen=True, gc=False, array_like=True, tag="d"):
    """Hand it to a sender now."""

    target: Target
    decided_at_ms: int
    send_until_ms: int
    reserves: bool = False


class Defer(Struct, frozen=True, gc=False, array_like=True, tag="w"):
    """Let it wait in the schedule; the chain runs again when it is due."""

    target: Target
    decided_at_ms: int
    until_ms: int
    reason: Reason
    rule: str
    reserves: bool = False


class Suppress(Struct, frozen=True, gc=False, array_like=True, tag="s"):
    """Do not send it, for one reason."""

    target: Target
    decided_at_ms: int
    reason: Reason
    rule: str


Decision = Deliver | Defer | Suppress
