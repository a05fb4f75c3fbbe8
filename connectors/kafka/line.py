"""The order of durability of one partition: changelog, then outputs, then RocksDB, then the ack.

Several writes are under way at once, each in the same order as the one before it: block N+1 is
decided and its changelog sent while block N's is still in flight.
"""

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from connectors.kafka.block import Writes
from connectors.kafka.producer import BlockProducer
from connectors.kafka.view import View


@dataclass(frozen=True)
class _Burst:
    topic: str
    partition: int  # -1: each goes by its key
    records: list[dict[str, Any]]
    size: int


@dataclass(eq=False)
class Step:
    """One `Writes` on its way; `settled` is called when all of it is durable."""

    writes: Writes
    sequences: dict[str, int]
    changes: dict[str, _Burst]
    outputs: list[_Burst]
    settled: Callable[[], None]
    changes_left: int = 0
    outputs_left: int = 0
    offsets: dict[str, int] = field(default_factory=dict)


class Line:
    """Writes of one partition, applied strictly in order."""

    def __init__(
        self,
        partition: int,
        producer: BlockProducer,
        view: Callable[[str, int], View],
        changelog: Callable[[str], str],
        owned_ms: Callable[[], int],
        check: Callable[[], None],
    ) -> None:
        """`owned_ms` dates the store; `check` ends the process if the partition may be lost."""
        self._partition = partition
        self._producer = producer
        self._view = view
        self._changelog = changelog
        self._owned_ms = owned_ms
        self._check = check
        self._to_change: deque[Step] = deque()
        self._to_emit: deque[Step] = deque()
        self._to_settle: deque[Step] = deque()

    @property
    def empty(self) -> bool:
        return not (self._to_change or self._to_emit or self._to_settle)

    @property
    def waiting(self) -> bool:
        """Whether something could not be sent yet for lack of room."""
        return bool(self._to_change)

    def add(self, writes: Writes, settled: Callable[[], None]) -> None:
        """Make the changes visible now and start them on their way."""
        sequences: dict[str, int] = {}
        changes: dict[str, _Burst] = {}
        for table, rows in writes.changes.items():
            if rows:
                sequences[table] = self._view(table, self._partition).apply(rows)
                records = [{"key": key, "value": value} for key, value in rows.items()]
                changes[table] = _burst(self._changelog(table), self._partition, records)
        outputs = [
            _burst(topic, self._partition if topic in writes.by_user else -1, records)
            for topic, records in writes.outputs.items()
            if records
        ]
        self._to_change.append(Step(writes, sequences, changes, outputs, settled))
        self.pump()

    def pump(self) -> None:
        """Send on whatever may go now."""
        while self._to_change and self._send_changes(self._to_change[0]):
            self._to_emit.append(self._to_change.popleft())
        while self._to_emit and self._to_emit[0].changes_left == 0 and self._send_outputs(self._to_emit[0]):
            self._to_settle.append(self._to_emit.popleft())
        while self._to_settle and self._to_settle[0].outputs_left == 0:
            self._settle(self._to_settle.popleft())

    def _send_changes(self, step: Step) -> bool:
        if not self._may_send(step.changes.values()):
            return False
        step.changes_left = len(step.changes)
        for table, burst in step.changes.items():

            def done(highest: int, table: str = table) -> None:
                step.offsets[table] = highest
                step.changes_left -= 1
                if step.changes_left == 0:
                    self.pump()

            self._producer.send(burst.topic, burst.records, burst.size, burst.partition, done)
        return True

    def _send_outputs(self, step: Step) -> bool:
        headed = step.writes.headed
        size = sum(len(key or b"") + len(value or b"") for _, _, key, value, _ in headed)
        if not self._may_send(step.outputs, len(headed), size):
            return False
        step.outputs_left = len(step.outputs) + len(headed)

        def done(_: int) -> None:
            step.outputs_left -= 1
            if step.outputs_left == 0:
                self.pump()

        for burst in step.outputs:
            self._producer.send(burst.topic, burst.records, burst.size, burst.partition, done)
        for topic, partition, key, value, headers in headed:
            self._producer.send_headed(topic, partition, key, value, headers, done)
        return True

    def _may_send(self, bursts: Iterable[_Burst], records: int = 0, size: int = 0) -> bool:
        """Whether all of it has room at once; a worker that may have lost the partition ends here."""
        records += sum(len(burst.records) for burst in bursts)
        size += sum(burst.size for burst in bursts)
        if records == 0:
            return True
        self._check()
        return self._producer.room(records, size)

    def _settle(self, step: Step) -> None:
        for table, offset in step.offsets.items():
            view = self._view(table, self._partition)
            view.write(step.writes.changes[table], step.sequences[table], offset, self._owned_ms())
        step.settled()


def _burst(topic: str, partition: int, records: list[dict[str, Any]]) -> _Burst:
    size = sum([len(record["key"] or b"") + len(record["value"] or b"") for record in records])
    return _Burst(topic, partition, records, size)
