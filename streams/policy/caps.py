"""Places under caps: not a counter but a bounded list, exact under replay and rebalance (R-129).

Each delivery that goes ahead or waits has a place at its intended instant; places of one
notification count once. A deferral moves the place, whatever is not sent gives it back, and
sent or unknown keep it.
"""

from typing import Protocol

from msgspec.structs import replace

from streams.catalog import Cap
from streams.policy.calendar import local_day
from streams.policy.context import Context
from streams.records.decision import Decision, Defer, Reservation, Suppress
from streams.records.followup import Settle
from streams.records.state import Reservations

#: A user's row never grows past this many places; the earliest go first.
MOST_PLACES = 256


class Subject(Protocol):
    """A request or a delivery: what places are held for."""

    @property
    def notification_id(self) -> str: ...
    @property
    def category(self) -> str: ...
    @property
    def template(self) -> str: ...


def reached(cap: Cap, held: tuple[Reservation, ...], context: Context) -> bool:
    """Tell whether other notifications fill the cap in the window of the intended instant."""
    if cap.channel not in ("*", context.channel):
        return False
    at_ms, own = context.intended_ms, context.notification_id
    if not held:
        return cap.limit == 0
    others = [
        place
        for place in held
        if place.notification_id != own
        and cap.category in ("*", place.category)
        and cap.channel in ("*", place.channel)
    ]
    if cap.window_ms:
        return _rolling(cap, others, at_ms)
    start, end = local_day(context.zone, at_ms)
    return len({place.notification_id for place in others if start <= place.at_ms < end}) >= cap.limit


def _rolling(cap: Cap, others: list[Reservation], at_ms: int) -> bool:
    """Tell whether some half-open window of this length around the instant is full (CAP-05)."""
    near = [place for place in others if abs(place.at_ms - at_ms) < cap.window_ms]
    starts = {at_ms, *(place.at_ms for place in near if place.at_ms <= at_ms)}
    return cap.limit == 0 or any(
        len({p.notification_id for p in near if start <= p.at_ms < start + cap.window_ms}) >= cap.limit
        for start in starts
    )


def settle(
    reservations: Reservations, subject: Subject, decisions: tuple[Decision, ...], now_ms: int
) -> Reservations:
    """Return the user's places after these decisions: taken, moved, given back; outlived ones leave.

    The same object comes back if nothing changed. Pure, so a replay of recorded decisions over
    the places they led to changes nothing.
    """
    held = reservations.held
    taken: list[Reservation] = []
    for decision in decisions:
        if not isinstance(decision, Suppress) and decision.holds_ms:
            taken.append(_place(subject, decision))
    if not held and not taken:
        return reservations
    decided = {decision.target.delivery_id for decision in decisions}
    kept = [place for place in held if place.until_ms > now_ms and place.delivery_id not in decided]
    if not taken and len(kept) == len(held):
        return reservations
    places = tuple(sorted(kept + taken, key=_instant)[-MOST_PLACES:])
    return reservations if places == held else replace(reservations, held=places)


def release(reservations: Reservations, settled: Settle) -> Reservations:
    """Return the places without this delivery's; if it has none, nothing changes."""
    kept = tuple([place for place in reservations.held if place.delivery_id != settled.delivery_id])
    return reservations if len(kept) == len(reservations.held) else replace(reservations, held=kept)


def _place(subject: Subject, decision: Decision) -> Reservation:
    target = decision.target
    at_ms = decision.until_ms if isinstance(decision, Defer) else decision.decided_at_ms
    holds_ms = 0 if isinstance(decision, Suppress) else decision.holds_ms
    return Reservation(
        subject.notification_id,
        target.delivery_id,
        subject.category,
        target.channel,
        subject.template,
        at_ms,
        at_ms + holds_ms,
    )


def _instant(place: Reservation) -> tuple[int, str]:
    return place.at_ms, place.delivery_id
