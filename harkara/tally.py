"""Counts what becomes of deliveries, from the public feed alone: for live status and for waiting."""

from collections import Counter
from collections.abc import Iterator

from msgspec import Struct

from streams.records.delivery_event import DeliveryEvent
from streams.statuses import FINAL, Status


class Standing(Struct, gc=False):
    """The last known status of one delivery; `until_ms` only while it waits."""

    status: Status
    lane: str
    channel: str
    until_ms: int


class Tally:
    """Folds delivery events. Two producers write them, so a status that is final stays."""

    def __init__(self, since_ms: int = 0) -> None:
        """Count deliveries admitted at or after `since_ms` only."""
        self._since_ms = since_ms
        self._standings: dict[str, Standing] = {}
        self._counts: Counter[Status] = Counter()
        self.duplicates = 0
        self.refused: Counter[str] = Counter()  # records in `rejected`, by reason
        self.dead: Counter[str] = Counter()  # records in `dead-letters`, by reason

    @property
    def accepted(self) -> int:
        """Deliveries known so far."""
        return len(self._standings)

    def note(self, event: DeliveryEvent) -> None:
        """Take one event into account; events may come twice."""
        if event.cohort_at_ms < self._since_ms:
            return
        if event.status is Status.DUPLICATE:
            self.duplicates += 1
            return
        known = self._standings.get(event.delivery_id)
        if known is None:
            known = self._standings[event.delivery_id] = Standing(event.status, event.lane, event.channel, 0)
        elif known.status in FINAL:
            return
        else:
            self._counts[known.status] -= 1
        known.status, known.until_ms = event.status, event.until_ms
        self._counts[event.status] += 1

    def count(self, *statuses: Status) -> int:
        """Return how many deliveries are in any of these statuses now."""
        return sum(self._counts[status] for status in statuses)

    def open(self, before_ms: int) -> int:
        """Return how many are under way, or wait for an instant earlier than `before_ms`."""
        return sum(
            standing.status not in FINAL
            and (standing.status is not Status.DEFERRED or standing.until_ms < before_ms)
            for standing in self._standings.values()
        )

    def __iter__(self) -> Iterator[Standing]:
        return iter(self._standings.values())
