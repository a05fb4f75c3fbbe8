"""The order of durability of one partition: changelog, then outputs, then RocksDB, then the ack.

Several writes are under way at once, each in the same order as the one before it: block N+1 is
decided and its changelog sent while block N's is still in flight.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from connectors.kafka.block import Writes
from connectors.kafka.producer import BlockProducer
from connectors.kafka.view import View


@dataclass(eq=False)
class Step:
    """One `Writes` on its way; `settled` is called when all of it is durable."""

    writes: Writes
    sequences: dict[str, int]
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
        wall_ms: Callable[[], int],
    ) -> None:
        self._partition = partition
        self._producer = producer
        self._view = view
        self._changelog = changelog
        self._wall_ms = wall_ms
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
        sequences = {
            table: self._view(table, self._partition).apply(changes)
            for table, changes in writes.changes.items()
        }
        self._to_change.append(Step(writes, sequences, settled))
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
        changes = step.writes.changes
        if not self._producer.room(sum(map(len, changes.values()))):
            return False
        step.changes_left = len(changes)
        for table, rows in changes.items():

            def done(highest: int, table: str = table) -> None:
                step.offsets[table] = highest
                step.changes_left -= 1
                if step.changes_left == 0:
                    self.pump()

            records = [{"key": key, "value": value} for key, value in rows.items()]
            self._producer.send(self._changelog(table), records, self._partition, done)
        return True

    def _send_outputs(self, step: Step) -> bool:
        writes = step.writes
        if not self._producer.room(sum(map(len, writes.outputs.values())) + len(writes.headed)):
            return False
        step.outputs_left = len(writes.outputs) + len(writes.headed)

        def done(_: int) -> None:
            step.outputs_left -= 1
            if step.outputs_left == 0:
                self.pump()

        for topic, records in writes.outputs.items():
            self._producer.send(topic, records, -1, done)
        for topic, partition, key, value, headers in writes.headed:
            self._producer.send_headed(topic, partition, key, value, headers, done)
        return True

    def _settle(self, step: Step) -> None:
        for table, changes in step.writes.changes.items():
            view = self._view(table, self._partition)
            view.write(changes, step.sequences[table], step.offsets[table], self._wall_ms())
        step.settled()
