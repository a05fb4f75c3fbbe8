"""What an agent reads and what it wants written: one value each, for one partition."""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from connectors.kafka.ledger import Entry
from streams.records.codec import to_json
from streams.records.dead_letter import DeadLetter
from streams.records.delivery_event import DeliveryEvent
from streams.records.rejection import Rejection
from streams.records.unfit import Unfit
from streams.topics import DEAD_LETTERS, DELIVERY_EVENTS, REJECTED, Topic

Headers = Sequence[tuple[str, bytes]]


class Record(Protocol):
    """A raw record of Kafka."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: Headers


class Block:
    """Records of one partition, in offset order, as one unit of work and acknowledgement."""

    __slots__ = ("entry", "generation", "partition", "records", "topic")

    def __init__(
        self,
        topic: str,
        partition: int,
        records: Sequence[Any],
        generation: int = 0,
        entry: Entry | None = None,
    ) -> None:
        self.topic = topic
        self.partition = partition
        self.records: Sequence[Record] = records
        self.generation = generation
        self.entry = entry

    def __iter__(self) -> Iterator[Record]:
        return iter(self.records)

    def __len__(self) -> int:
        return len(self.records)


class Writes:
    """All that a block changes and emits; applied by the transport and nobody else.

    Outputs keep the order of `emit` within a topic. Of several changes of one key only the last
    counts; changes keep the order of their first mention.
    """

    __slots__ = ("by_user", "changes", "headed", "outputs", "partition")

    def __init__(self, partition: int) -> None:
        self.partition = partition
        self.outputs: dict[str, list[dict[str, Any]]] = {}
        self.by_user: set[str] = set()  # outputs that keep this partition, whatever their key
        self.headed: list[tuple[str, int | None, bytes | None, bytes | None, Headers]] = []
        self.changes: dict[str, dict[bytes, bytes | None]] = {}

    def emit(self, topic: Topic, key: bytes | None, value: bytes) -> None:
        """Send a record; topics keyed by user keep this partition, others go by their key."""
        name = topic.full_name
        batch = self.outputs.get(name)
        if batch is None:
            batch = self.outputs[name] = []
            if topic.by_user:
                self.by_user.add(name)
        batch.append({"key": key, "value": value})

    def forward(self, topic: str, partition: int, record: Record, headers: Headers) -> None:
        """Send the record's own bytes to another partition (or topic), with these headers."""
        self.headed.append((topic, partition, record.key, record.value, headers))

    def event(self, event: DeliveryEvent) -> None:
        """Tell the world what became of a delivery."""
        self.emit(DELIVERY_EVENTS, event.delivery_id.encode(), to_json(event))

    def put(self, table: str, key: bytes, value: bytes) -> None:
        """Set a row of a table."""
        self.changes.setdefault(table, {})[key] = value

    def delete(self, table: str, key: bytes) -> None:
        """Remove a row of a table."""
        self.changes.setdefault(table, {})[key] = None

    def set_aside(
        self, record: Record, unfit: Unfit, role: str, now_ms: int, rejection: Rejection | None
    ) -> None:
        """Refuse a record for good: with its reason to `rejected`, or whole to `dead-letters`."""
        if rejection is not None and not unfit.dead_letter:
            self.emit(REJECTED, record.key, to_json(rejection))
            return
        letter = DeadLetter(
            unfit.reason,
            unfit.detail,
            role,
            record.topic,
            record.partition,
            record.offset,
            record.key or b"",
            record.value or b"",
            now_ms,
            tuple((name, bytes(value)) for name, value in record.headers or ()),
        )
        self.emit(DEAD_LETTERS, record.key, to_json(letter))

    def add(self, other: "Writes") -> None:
        """Take over all of another value's outputs and changes, after our own."""
        for topic, records in other.outputs.items():
            self.outputs.setdefault(topic, []).extend(records)
        self.by_user |= other.by_user
        for table, rows in other.changes.items():
            self.changes.setdefault(table, {}).update(rows)
        self.headed.extend(other.headed)

    @property
    def empty(self) -> bool:
        return not (self.outputs or self.headed or self.changes)
