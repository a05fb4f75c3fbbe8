"""The only writer: applies what agents decided, in the order that survives any crash.

`finish` for a block, `durable` for a timer or a claim. Both make the changes visible to the next
read at once, and call it done when changelog, outputs and store hold them.
"""

import asyncio
from collections.abc import Callable

from connectors.kafka.block import Block, Writes
from connectors.kafka.consumer import BlockConsumer
from connectors.kafka.exits import leave
from connectors.kafka.fence import Fence
from connectors.kafka.line import Line
from connectors.kafka.producer import BlockProducer
from connectors.kafka.table import BlockTable, wall_ms
from connectors.kafka.view import View
from streams.errors import LostOwnership


class Transport:
    """Ties one app's consumer, tables and producer together."""

    def __init__(
        self,
        consumer: Callable[[], BlockConsumer],
        producer: BlockProducer,
        tables: dict[str, BlockTable],
        fence: Fence,
    ) -> None:
        self._consumer = consumer
        self._producer = producer
        self._tables = tables
        self._fence = fence
        self._lines: dict[int, Line] = {}
        self._room = asyncio.Event()
        producer.on_progress.append(self._progress)

    # -- for agents --------------------------------------------------------------------------

    def view(self, table: str, partition: int) -> View:
        """Return a partition of a table, to read from; never keep it over an await."""
        return self._tables[table].view(partition)

    def current(self, block: Block) -> bool:
        """Whether the block still belongs to us; if not it must be dropped without effect."""
        return self._consumer().holds(block)

    async def finish(self, block: Block, writes: Writes) -> None:
        """Apply the writes of a block and acknowledge it once they are durable.

        Returns when there is room for more, not when it is done. Writes of a block of an older
        assignment are dropped: its records are read again by whoever owns them now.
        """
        if not self.current(block):
            return
        self._fence.check()
        consumer = self._consumer()
        self._line(block.partition).add(writes, lambda: consumer.finished(block))
        consumer.applied(block)
        await self._wait_room()

    async def durable(self, writes: Writes) -> None:
        """Apply writes and return when they are durable."""
        await self.post(writes)

    def post(self, writes: Writes) -> asyncio.Future[None]:
        """Apply writes now; the future ends when they are durable.

        Only for a partition that is owned: anything else would write into somebody else's state.
        """
        self._fence.check()
        if not any(partition == writes.partition for _, partition in self._consumer().books):
            leave(LostOwnership(f"partition {writes.partition} is not ours any more"))
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def settled() -> None:
            if not future.done():
                future.set_result(None)

        self._line(writes.partition).add(writes, settled)
        return future

    def check_ownership(self) -> None:
        """Leave the process unless the group heard of us lately; call before any outside effect."""
        self._fence.check()

    def owned(self) -> set[int]:
        """Partitions this worker owns at present."""
        return self._consumer().owned_partitions()

    def timers_open(self, partition: int) -> bool:
        """Whether timers may fire: every input was read to the end it had at the assignment."""
        return self._consumer().inputs_caught_up(partition)

    def committed(self, topic: str, partition: int) -> int:
        """Return the committed offset of an input, as far as we know; 0 when none."""
        book = self._consumer().books.get((topic, partition))
        return (book.committed or 0) if book is not None else 0

    # -- for the app that owns it -------------------------------------------------------------

    async def drained(self, _: set[int]) -> None:
        """Wait until all that was begun is durable (a revoke hook)."""
        while any(not line.empty for line in self._lines.values()):
            self._room.clear()
            try:
                await asyncio.wait_for(self._room.wait(), 0.05)
            except TimeoutError:
                continue

    def forget(self) -> None:
        """Drop every view in memory (after a revoke)."""
        self._lines.clear()
        for table in self._tables.values():
            table.drop_views()

    def touch(self) -> None:
        """Date the local stores by when the group last counted on us."""
        for table in self._tables.values():
            table.touch(self._owned_ms())

    def _line(self, partition: int) -> Line:
        line = self._lines.get(partition)
        if line is None:
            line = self._lines[partition] = Line(
                partition,
                self._producer,
                self.view,
                lambda table: self._tables[table].changelog_topic.get_topic_name(),
                self._owned_ms,
                self._fence.check,
            )
        return line

    def _owned_ms(self) -> int:
        return wall_ms() - int(self._fence.age_s * 1000)

    def _progress(self) -> None:
        for line in list(self._lines.values()):
            line.pump()
        self._room.set()

    async def _wait_room(self) -> None:
        await asyncio.sleep(0)  # let timers, callbacks and the other lanes in between two blocks
        while any(line.waiting for line in self._lines.values()):
            self._room.clear()
            await self._room.wait()
