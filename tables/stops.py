"""What a sender must not send any more: one small document a user, from the topic `stops`."""

from collections.abc import Callable

from msgspec.structs import replace

from connectors.kafka.block import Writes
from connectors.kafka.view import View
from streams.policy.choices import with_choice
from streams.records.codec import state_stops, to_state
from streams.records.state import Stops
from streams.records.stop import Blocked, Cancelled, OptOut, Stop
from streams.topics import STOPS_TABLE

_CANCELLED_KEPT = 200  # a user; older ones have long expired


class StopsTable:
    """Stops by user, one partition at a time."""

    def __init__(self, view: Callable[[str, int], View]) -> None:
        self._view = view

    def of(self, partition: int, user: bytes) -> Stops | None:
        """Return what is stopped for the user, or None."""
        raw = self._view(STOPS_TABLE, partition).get(user)
        return None if raw is None else state_stops(raw)

    def save(self, writes: Writes, user: bytes, stops: Stops) -> None:
        """Keep what is stopped for a user."""
        writes.put(STOPS_TABLE, user, to_state(stops))


def applied(stops: Stops, stop: Stop, offset: int) -> Stops:
    """Return the stops after one more; a lower offset than the last applied changes nothing."""
    if offset <= stops.applied:
        return stops
    match stop:
        case OptOut(category=category, channel=channel, stopped=stopped, at_ms=at):
            opted_out = with_choice(stops.opted_out, category, channel, at if stopped else -at)
            return replace(stops, applied=offset, opted_out=opted_out)
        case Blocked(at_ms=at, erased=True):
            return replace(stops, applied=offset, blocked_at_ms=at, erased_at_ms=at)
        case Blocked(stopped=stopped, at_ms=at):
            return replace(stops, applied=offset, blocked_at_ms=at if stopped else 0)
        case Cancelled(notification_id=notification_id, at_ms=at):
            cancelled = dict(list(stops.cancelled.items())[-_CANCELLED_KEPT:]) | {notification_id: at}
            return replace(stops, applied=offset, cancelled=cancelled)
