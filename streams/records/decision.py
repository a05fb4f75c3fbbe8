"""What the router decided for one delivery: a closed union, recorded in state and repeated on replay."""

from msgspec import Struct

from streams.reasons import Reason


class Reservation(Struct, frozen=True, gc=False, array_like=True):
    """One delivery's place under its user's caps, from its intended instant on (R-129).

    The places of one notification count once in each window that holds one of them; the
    notification is out of a window when its last place there was moved or released.
    """

    notification_id: str
    delivery_id: str
    category: str
    channel: str
    template: str
    at_ms: int  # intended instant of sending
    until_ms: int  # from then on no window can hold it


class Target(Struct, frozen=True, gc=False, array_like=True):
    """The delivery a decision is about."""

    delivery_id: str
    channel: str
    endpoint: str  # the user's device id, or the contact's slot; "" while unknown
    address: str = ""  # token, number, …; "" when there is none
    locale: str = ""


class Deliver(Struct, frozen=True, gc=False, array_like=True, tag="d"):
    """Hand it to a sender now."""

    target: Target
    decided_at_ms: int
    send_until_ms: int
    holds_ms: int = 0  # how long its place under caps counts; 0: it takes none

    @property
    def reserves(self) -> bool:
        return self.holds_ms > 0


class Defer(Struct, frozen=True, gc=False, array_like=True, tag="w"):
    """Let it wait in the schedule; the chain runs again when it is due."""

    target: Target
    decided_at_ms: int
    until_ms: int
    reason: Reason
    rule: str
    holds_ms: int = 0  # how long its place under caps counts, from `until_ms` on; 0: it takes none

    @property
    def reserves(self) -> bool:
        return self.holds_ms > 0


class Suppress(Struct, frozen=True, gc=False, array_like=True, tag="s"):
    """Do not send it, for one reason."""

    target: Target
    decided_at_ms: int
    reason: Reason
    rule: str


Decision = Deliver | Defer | Suppress
