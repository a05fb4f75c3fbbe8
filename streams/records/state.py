"""The documents in the changelogs. Each carries its source, so that a replay recognises it.

msgpack, array-like: fields are only ever added at the end, with a default.
"""

from msgspec import Struct

from streams.reasons import Reason
from streams.records.decision import Decision, Reservation
from streams.records.delivery import Delivery
from streams.records.source import Source


class Device(Struct, frozen=True, gc=False, array_like=True):
    """A phone or browser that takes push messages."""

    device_id: str
    token: str
    platform: str
    zone: str
    seen_at_ms: int
    active: bool = True


class Contact(Struct, frozen=True, gc=False, array_like=True):
    """An address on a channel that has one address a user."""

    channel: str
    address: str
    verified: bool
    active: bool = True


class Profile(Struct, frozen=True, gc=False, array_like=True):
    """All we know of a user (table `preferences`, key user_id).

    `preferences` maps (category, channel) to allowed, "*" as wildcard. `applied` is the last
    applied offset of `profiles`: commands at or below it change nothing.
    """

    applied: int = -1
    zone: str = ""
    locale: str = ""
    quiet_start: int = -1  # minutes after local midnight; -1: the type's category default
    quiet_end: int = -1
    preferences: dict[tuple[str, str], bool] = {}
    contacts: tuple[Contact, ...] = ()
    devices: tuple[Device, ...] = ()
    consents: dict[str, bool] = {}
    blocked: bool = False
    erased: bool = False


class Reservations(Struct, frozen=True, gc=False, array_like=True):
    """A user's places under caps, oldest first, bounded (view `caps`)."""

    held: tuple[Reservation, ...] = ()


class Admission(Struct, frozen=True, gc=False, array_like=True):
    """The first result of an event, repeated for every copy of it (view `dedup`)."""

    source: Source
    src_partition: int
    body: int  # fingerprint of the request
    notification_id: str
    first_ms: int
    until_ms: int  # end of the deduplication window
    decisions: tuple[Decision, ...]
    offset: int = -1  # of the record on this partition (a re-keyed one's source is its origin)


class Waiting(Struct, frozen=True, gc=False, array_like=True):
    """A delivery that waits for its instant (view `schedule`)."""

    delivery: Delivery
    reason: Reason
    rule: str
    row: str  # its row id


class Row(Struct, frozen=True, gc=False, array_like=True):
    """What became of a row of the schedule: kept until a replay cannot insert it again.

    `state`: "w" waiting, "f" fired, "c" cancelled. A fired row keeps what it decided until its
    outputs are durable; the entry leaves when `source` is committed (or is itself a row that left).
    """

    state: str
    source: Source
    src_partition: int
    due_ms: int
    channel: str
    lane: str
    fired: tuple[Decision, ...] = ()
    delivery: Delivery | None = None
    offset: int = -1  # of the source record on this partition; -1 for the schedule's own rows


class Claim(Struct, frozen=True, gc=False, array_like=True):
    """One delivery's attempts as its sender knows them (table `claims`, key delivery_id).

    `open` means: a provider call of attempt `attempt` may be under way or lost. A closed claim
    keeps all that it emitted, so that a replay emits it again; that of a delivery given back
    without a call keeps the followup and the number of the last call.
    """

    attempt: int
    open: bool
    provider: str
    claimed_at_ms: int
    expires_at_ms: int  # the row may leave after this plus 24 h
    src_offset: int  # of the delivery record on its lane
    final: bool = False
    event: bytes = b""  # the attempt's delivery event, encoded
    followup: bytes = b""  # the followup it made, encoded
    decided_at_ms: int = 0  # of the delivery it is about: that decision is dealt with
    letters: tuple[bytes, ...] = ()  # the dead letters it made, encoded
    command: bytes = b""  # the profile command it made, encoded


class Stops(Struct, frozen=True, gc=False, array_like=True):
    """What must not be sent to a user any more (a sender's table `stops`, key user_id)."""

    applied: int = -1  # last applied offset of `stops`
    opted_out: dict[tuple[str, str], int] = {}  # (category, channel) -> at_ms; negative: allowed again
    blocked_at_ms: int = 0
    cancelled: dict[str, int] = {}  # notification id -> at_ms
    erased_at_ms: int = 0
