"""What must come of a flow: dedup, consent, endpoints and caps told anew, from the topics alone.

A second opinion: nothing of the router's policy is used but how ids are derived. It holds for
the people and types of `harkara.chaos.load`.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from connectors.kafka.scan import Stored
from harkara.chaos.load import AFTER_OPT_OUT
from streams.ids import delivery_id, notification_id
from streams.reasons import Reason

TENANT = "default"
CAP_A_DAY = 3
ORIGIN = "harkara-origin"
_DAY_MS = 86_400_000

#: Type -> its category, channels in order, and whether it heeds preferences.
_TYPES: dict[str, tuple[str, tuple[str, ...], bool]] = {
    "otp": ("security", ("sms", "push"), False),
    "security_alert": ("security", ("push", "sms"), False),
    "order_shipped": ("order", ("push", "sms"), True),
    "payment_received": ("payment", ("push", "sms"), True),
    "weekly_offer": ("marketing", ("push",), True),
}

DELIVER = "deliver"
#: What may be decided about a delivery: "deliver", or a reason to wait or not to send.
Allowed = frozenset[str]


@dataclass
class Known:
    """A user as the commands on `profiles` leave them."""

    devices: list[str] = field(default_factory=list)
    number: bool = False
    consented: bool = False
    off: set[tuple[str, str]] = field(default_factory=set)
    asleep: bool = False


@dataclass(frozen=True)
class Admitted:
    """The first fit copy of an event, and what may be decided about each of its deliveries."""

    source: int | str  # offset, or origin of a re-keyed record
    deliveries: dict[str, Allowed]
    is_offer: bool


@dataclass
class Expected:
    """What must come of everything on the ingest topics."""

    admitted: dict[tuple[str, str], Admitted] = field(default_factory=dict)  # by user and key
    duplicates: set[tuple[str, int, int]] = field(default_factory=set)  # topic, partition, offset
    reused: set[tuple[str, int, int]] = field(default_factory=set)


def known_of(records: Iterable[Stored]) -> dict[str, Known]:
    """Fold the commands of `profiles`, each partition in order."""
    found: dict[str, Known] = {}
    for record in records:
        command = msgspec.json.decode(record.value or b"")
        user = found.setdefault(command["user_id"], Known())
        match command["command"]:
            case "set_contact":
                user.number = True
            case "register_device":
                user.devices.append(command["device_id"])
            case "consent":
                user.consented = command["given"]
            case "set_preference" if not command["allowed"]:
                user.off.add((command["category"], command.get("channel", "*")))
            case "set_quiet_hours":
                user.asleep = command.get("start", "") != ""
    return found


def origin_of(record: Stored) -> int | str:
    """Return what identifies a record: where it was first written."""
    for name, value in record.headers:
        if name == ORIGIN:
            return value.decode()
    return record.offset


class Reference:
    """Judges the events of users in the order in which they lie in their topics."""

    def __init__(self, known: Mapping[str, Known], decided_ms: Callable[[str, str], int]) -> None:
        """`decided_ms` tells when an event (user, key) was first decided: a day's cap needs the day."""
        self._known = known
        self._decided_ms = decided_ms
        self._bodies: dict[tuple[str, str], Any] = {}
        self._offers: dict[tuple[str, int], int] = {}  # by user and day
        self.expected = Expected()

    def read(self, record: Stored) -> None:
        """Take the next fit record of a topic, on its home partition."""
        event = msgspec.json.decode(record.value or b"")
        place, source = (record.topic, record.partition, record.offset), origin_of(record)
        user, key = event["user_id"], event.get("idempotency_key") or event["notification_id"]
        body = {name: value for name, value in event.items() if name not in ("source", "trace")}
        first = self.expected.admitted.get((user, key))
        if first is None:
            self._bodies[user, key] = body
            self.expected.admitted[user, key] = self._admit(event, user, key, source)
        elif first.source != source:  # the same source again: a re-keyed record that was written twice
            (self.expected.duplicates if self._bodies[user, key] == body else self.expected.reused).add(place)

    def _admit(self, event: Any, user: str, key: str, source: int | str) -> Admitted:
        own = event.get("notification_id") or notification_id(TENANT, event["idempotency_key"])
        category, channels, heeds = _TYPES[event["type"]]
        known = self._known.get(user)
        deliveries: dict[str, Allowed] = {}
        for channel in channels:
            inline = channel in (event.get("address") or ())
            slots = ("inline",) if inline else _slots(known, channel)
            allowed = self._allowed(event, user, key, known, category, channel, heeds, bool(slots))
            for slot in slots or ("",):
                deliveries[delivery_id(TENANT, user, own, 0, channel, slot)] = allowed
        return Admitted(source, deliveries, category == "marketing")

    def _allowed(
        self, event: Any, user: str, key: str, known: Known | None, category: str, channel: str,
        heeds: bool, reachable: bool,
    ) -> Allowed:  # fmt: skip
        if known is None:
            waits = {Reason.AWAITING_PROFILE, Reason.SCHEDULED, Reason.NO_ENDPOINT}
            return frozenset({DELIVER}) if reachable else frozenset(waits)
        may_be_early: set[str] = set()
        if heeds and not known.off.isdisjoint({(category, "*"), (category, channel)}):
            if event.get("source") == AFTER_OPT_OUT:
                return frozenset({Reason.OPTED_OUT})
            may_be_early = {Reason.OPTED_OUT}  # written before the opt-out, decided before or after it
        if category == "marketing" and not known.consented:
            return frozenset({Reason.NO_CONSENT})
        if not reachable:
            return frozenset({Reason.NO_ENDPOINT, *may_be_early})
        if category == "marketing":
            day = 0 if known.asleep else self._decided_ms(user, key) // _DAY_MS
            held = self._offers[user, day] = self._offers.get((user, day), 0) + 1
            if held > CAP_A_DAY:
                return frozenset({Reason.CAP_REACHED, *may_be_early})
            return frozenset({Reason.QUIET_HOURS if known.asleep else DELIVER, *may_be_early})
        if event.get("send_at") is not None:
            return frozenset({Reason.SCHEDULED, DELIVER, *may_be_early})
        return frozenset({DELIVER, *may_be_early})


def _slots(known: Known | None, channel: str) -> tuple[str, ...]:
    if known is None:
        return ()
    if channel == "push":
        return tuple(known.devices)
    return ("contact",) if known.number else ()
