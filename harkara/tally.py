"""Counts what becomes of deliveries, from the public feed alone: for live status and for waiting."""

from collections import Counter

from msgspec import Struct

from streams.records.delivery_event import DeliveryEvent
from streams.statuses import FINAL, Status


class _Open(Struct, frozen=True, gc=False):
    """A delivery that is not final; `until_ms` only while it waits."""

    status: Status
    until_ms: int


class Tally:
    """Folds delivery events. Two producers write them, so a status that is final stays."""

    def __init__(self, since_ms: int = 0) -> None:
        """Count deliveries admitted at or after `since_ms` only."""
        self._since_ms = since_ms
        self._open: dict[str, _Open] = {}
        self._final: set[str] = set()
        self._counts: Counter[Status] = Counter()
        self.duplicates = 0
        self.refused: Counter[str] = Counter()  # records in `rejected`, by reason
        self.dead: Counter[str] = Counter()  # records in `dead-letters`, by reason

    @property
    def accepted(self) -> int:
        """Deliveries known so far."""
        return len(self._open) + len(self._final)

    def note(self, event: DeliveryEvent) -> None:
        """Take one event into account; events may come twice."""
        delivery, status = event.delivery_id, event.status
        if event.cohort_at_ms < self._since_ms or delivery in self._final:
            return
        if status is Status.DUPLICATE:
            self.duplicates += 1
            return
        known = self._open.pop(delivery, None)
        if known is not None:
            self._counts[known.status] -= 1
        self._counts[status] += 1
        if status in FINAL:
            self._final.add(delivery)
        else:
            self._open[delivery] = _Open(status, event.until_ms)

    def count(self, *statuses: Status) -> int:
        """Return how many deliveries are in any of these statuses now."""
        return sum(self._counts[status] for status in statuses)

    def open(self, before_ms: int) -> int:
        """Return how many are under way, or wait for an instant earlier than `before_ms`."""
        return sum(
            one.status is not Status.DEFERRED or one.until_ms < before_ms for one in self._open.values()
        )
