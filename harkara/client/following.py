"""Follows one event that was sent: each status of its deliveries, or why it was refused."""

from collections.abc import Iterator
from enum import StrEnum
from time import monotonic

from connectors.kafka.client_producer import Stored
from connectors.kafka.tail import Tail
from streams.records.codec import read_dead_letter, read_delivery_event, read_rejection
from streams.records.dead_letter import DeadLetter
from streams.records.delivery_event import DeliveryEvent
from streams.records.rejection import Rejection
from streams.statuses import FINAL, Status
from streams.topics import BY_NAME, DEAD_LETTERS, DELIVERY_EVENTS, REJECTED

#: What is followed; open the tail before the event is sent.
FOLLOWED = (DELIVERY_EVENTS, REJECTED, DEAD_LETTERS)

Fact = DeliveryEvent | Rejection | DeadLetter
# The deliveries of one event are decided together; their first events come within moments.
_QUIET_S = 0.4


class End(StrEnum):
    """How following an event ended."""

    SETTLED = "settled"  # a repeat, or each delivery has a final status
    REFUSED = "refused"  # in `rejected` or `dead-letters`
    HELD = "held"  # what is not final waits for an instant after the patience is over
    UNDER_WAY = "under_way"  # the patience is over


class Following:
    """Yields facts about one stored event until nothing more is to be expected soon."""

    def __init__(self, tail: Tail, stored: Stored) -> None:
        self._tail = tail
        self._stored = stored
        self._open: dict[str, DeliveryEvent] = {}
        self._known: set[str] = set()
        self.end = End.UNDER_WAY

    def facts(self, patience_s: float) -> Iterator[Fact]:
        """Yield what comes, for at most `patience_s` seconds."""
        start = last = monotonic()
        while self.end is End.UNDER_WAY and (left_s := patience_s - (monotonic() - start)) > 0:
            for message in self._tail.take(0.1):
                fact = self._read(message.topic() or "", message.value() or b"")
                if fact is not None:
                    last = monotonic()
                    yield fact
            if self._known and monotonic() - last >= _QUIET_S:
                if not self._open:
                    self.end = End.SETTLED
                elif all(_wait_s(event) > left_s for event in self._open.values()):
                    self.end = End.HELD

    def _read(self, topic: str, value: bytes) -> Fact | None:
        if topic == DELIVERY_EVENTS.full_name:
            return self._status(read_delivery_event(value))
        fact = read_rejection(value) if topic == REJECTED.full_name else read_dead_letter(value)
        if (fact.topic, fact.partition, fact.offset) != self._place:
            return None
        self.end = End.REFUSED
        return fact

    def _status(self, event: DeliveryEvent) -> DeliveryEvent | None:
        topic, partition, offset = self._place
        if (event.src_topic, event.src_partition, event.src_offset) != (
            BY_NAME[topic].number,
            partition,
            offset,
        ):
            return None
        if event.status is Status.DUPLICATE:
            self.end = End.SETTLED
        elif event.delivery_id not in self._known or event.delivery_id in self._open:
            self._known.add(event.delivery_id)
            self._open[event.delivery_id] = event
            if event.status in FINAL:
                del self._open[event.delivery_id]
        return event

    @property
    def _place(self) -> tuple[str, int, int]:
        return self._stored.topic, self._stored.partition, self._stored.offset


def _wait_s(event: DeliveryEvent) -> float:
    """Return how long a delivery waits from its last event on; 0 if it does not wait."""
    return (event.until_ms - event.occurred_at_ms) / 1000 if event.status is Status.DEFERRED else 0.0
