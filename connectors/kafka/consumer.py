"""Faust's consumer, handing agents whole blocks and committing only what is finished.

It replaces stock Faust's reading, bookkeeping and waiting, which lose or repeat records around
rebalances, recovery and errors. Each name it overrides is checked at start (`selftest`).
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

from aiokafka.errors import IllegalStateError
from faust.transport.drivers.aiokafka import Consumer
from faust.types.tuples import TP, ConsumerMessage

from connectors.kafka.block import Block
from connectors.kafka.exits import leave
from connectors.kafka.fence import Fence
from connectors.kafka.gaps import check_committed, check_next, check_passed
from connectors.kafka.held import Held
from connectors.kafka.ledger import Ledger
from connectors.kafka.plan import Ask, ReadPlan, Tp, asks
from connectors.kafka.restoring import Restoring
from connectors.kafka.thread import BlockConsumerThread, Poll
from streams.errors import LostOwnership, OffsetGap

RevokeHook = Callable[[set[int]], Awaitable[None]]
_IDLE_POLL_S = 0.5
_BUSY_POLL_S = 0.01
_DRAIN_S = 10.0
_RECOVERY_QUEUE = 16


class BlockConsumer(Consumer):
    """One message per polled partition batch; see `connectors.kafka.plan` for the order."""

    plan: ReadPlan  # set on the subclass made for each app
    fence: Fence
    revoke_hooks: list[RevokeHook]
    drop_hooks: list[Callable[[], None]]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.books: dict[Tp, Ledger] = {}
        self.timer_targets: dict[Tp, int] = {}
        self.epoch = 0  # grows with every loss of partitions; blocks of an older one count nowhere
        self._held = Held()
        self._restoring = Restoring()
        self._moved = asyncio.Event()

    def _new_consumer_thread(self) -> BlockConsumerThread:
        thread = BlockConsumerThread(self, loop=self.loop, beacon=self.beacon)
        thread.plan, thread.fence = self.plan, self.fence
        return thread

    @property
    def _blocks(self) -> BlockConsumerThread:
        return cast(BlockConsumerThread, self._thread)

    @property
    def _tables(self) -> Any:
        return self.app.tables  # its interface does not tell of the recovery

    # -- reading ---------------------------------------------------------------------------

    async def _drain_messages(self, fetcher: Any) -> None:
        def stopping() -> bool:
            return bool(self._stopped.is_set() or fetcher._stopped.is_set())

        try:
            while not stopping():
                if self.flow_active:
                    await self._turn()
                else:
                    await self.wait(cast(Any, self.can_resume_flow))
        except self.consumer_stopped_errors:
            if not self.transport.app.should_stop:
                raise
        except asyncio.CancelledError:
            if not self.transport.app.should_stop:
                raise

    async def _turn(self) -> None:
        epoch = self.epoch
        wanted, waits = self._wanted()
        await self._hand_out(self._held.opened(self.books), epoch)
        busy = waits or bool(self._held)
        if not wanted:
            await self._wait_moved(_BUSY_POLL_S if busy else _IDLE_POLL_S)
        expected = {tp: book.expected for tp, book in self.books.items()}
        timeout_s = (_BUSY_POLL_S if busy else _IDLE_POLL_S) if wanted else 0
        poll = await self._blocks.poll(wanted, self._gates, expected, timeout_s)
        if self.flow_active and epoch == self.epoch:
            try:
                entered = self._enter(poll)
            except OffsetGap as error:
                leave(error)
            await self._hand_out(entered, epoch)
            if self.app.in_recovery:
                self._restoring.close(self._tables.recovery, poll.positions)

    @property
    def _gates(self) -> dict[Tp, Tp]:
        gates = self.plan.gates
        return {tp: (gates[tp[0]], tp[1]) for tp in self.books if tp[0] in gates}

    def _wanted(self) -> tuple[list[Ask], bool]:
        active = {(tp.topic, tp.partition) for tp in self._get_active_partitions()}
        held = self._held.partitions
        sources = [tp for tp in active if tp in self.books and tp not in held]
        changelogs = tuple(tp for tp in active if tp[0] in self._tables.changelog_topics)
        wanted, waits = asks(self.plan, sources, self.books)
        if changelogs:
            if self._tables.changelog_queue.qsize() < _RECOVERY_QUEUE:
                wanted.append(Ask(changelogs, len(changelogs), len(changelogs)))
            else:
                waits = True
        return wanted, waits

    async def _wait_moved(self, timeout_s: float) -> None:
        self._moved.clear()
        try:
            await asyncio.wait_for(self._moved.wait(), timeout_s)
        except TimeoutError:
            return

    def _enter(self, poll: Poll) -> list[tuple[Tp, Block]]:
        """Book everything that came at one blow: no position may be seen without its records."""
        gates = self._gates
        entered: list[tuple[Tp, Block]] = []
        for tp, records in poll.records:
            book, first, last = self.books.get(tp), records[0].offset, records[-1].offset
            if book is None:  # a changelog, while tables are restored
                entered.append((tp, Block(tp[0], tp[1], records, self.epoch)))
                continue
            check_next(tp, book.expected, first, tp[0] in self.plan.gapless, poll.log_starts.get(tp))
            block = Block(tp[0], tp[1], records, self.epoch, book.add(first, last))
            if tp in gates:
                self._held.add(tp, block, gates[tp], poll.stable_ends[gates[tp]])
            else:
                entered.append((tp, block))
        for tp, position in poll.positions.items():
            if (book := self.books.get(tp)) is not None:
                if tp[0] in self.plan.gapless:
                    check_passed(tp, book.expected, position)
                book.position = position
        return entered + self._held.opened(self.books)

    async def _hand_out(self, blocks: list[tuple[Tp, Block]], epoch: int) -> None:
        for tp, block in blocks:
            if epoch != self.epoch or not self.flow_active:
                return
            last = block.records[-1]
            message = ConsumerMessage(
                tp[0], tp[1], last.offset, last.timestamp / 1000, 0, None, None, cast(Any, block), None, 0, 0,
                TP(*tp), generation_id=self.app.consumer_generation_id,
            )  # fmt: skip
            await self.wait_first(self.callback(message), self.suspend_flow.wait())
            if block.entry is None:
                self._restoring.handed(tp, last.offset)

    # -- acknowledging ---------------------------------------------------------------------

    def applied(self, block: Block) -> None:
        """The block's writes are decided and visible in memory."""
        if block.entry is not None and not block.entry.applied:
            block.entry.applied = True
            self._moved.set()

    def finished(self, block: Block) -> None:
        """The block's writes are durable; blocks of an older assignment count nowhere."""
        if block.entry is not None:
            block.entry.applied = block.entry.done = True
            self._moved.set()

    def track_message(self, message: Any) -> None:
        """Nothing to track: the ledger holds what is unfinished."""

    async def force_commit(self, topics: Any = None, start_new_transaction: bool = True) -> bool:
        books = dict(self.books)
        offsets = {tp: end for tp, book in books.items() if (end := book.committable()) is not None}
        if not offsets:
            return False
        self.fence.check()
        if not await self._commit({TP(*tp): end for tp, end in offsets.items()}):
            return False  # refused during a rebalance: said again by the next commit
        for tp, end in offsets.items():
            books[tp].committed = end
        return True

    # -- gaining and losing partitions -------------------------------------------------------

    async def wait_empty(self) -> None:
        """Let what was begun end, for a bounded time, and commit it."""
        self._held.clear()
        owned = {partition for _, partition in self.books}
        try:
            await asyncio.wait_for(self._run_revoke_hooks(owned), _DRAIN_S)
        except TimeoutError:
            leave(LostOwnership(f"work did not end within {_DRAIN_S:.0f} s of losing partitions"))
        await self.commit_and_end_transactions()

    async def _run_revoke_hooks(self, owned: set[int]) -> None:
        for hook in self.revoke_hooks:  # in order: first the agents end, then their writes
            await hook(owned)

    async def on_partitions_revoked(self, revoked: set[TP]) -> None:
        try:
            await super().on_partitions_revoked(revoked)
        finally:
            self.epoch += 1
            self.books.clear()
            self.timer_targets.clear()
            self._held.clear()
            self._restoring.clear()
            for hook in self.drop_hooks:
                hook()

    async def on_partitions_assigned(self, assigned: set[TP], generation_id: int = 0) -> None:
        # A worker without partitions has its flow on, and so may one whose recovery ends just now.
        self.stop_flow()
        await super().on_partitions_assigned(assigned, generation_id)

    async def perform_seek(self) -> None:
        """Seek to what is committed and open fresh books; no record flows meanwhile.

        Raises IllegalStateError, for which Faust begins anew, if partitions were lost meanwhile.
        """
        self.stop_flow()
        epoch = self.epoch
        committed: Mapping[TP, int | None] = await self.seek_to_committed()
        changelogs = self._tables.changelog_topics
        known = {
            (tp.topic, tp.partition): offset if offset is not None and offset >= 0 else None
            for tp, offset in committed.items()
            if tp.topic in self.plan.ranks and tp.topic not in changelogs
        }
        ends = await self._blocks.stable_ends(known)
        try:
            check_committed(known, await self._blocks.log_starts(known), ends)
        except OffsetGap as error:
            leave(error)
        if epoch != self.epoch:
            raise IllegalStateError("partitions were lost before they could be read")
        self._held.clear()
        self.timer_targets = ends
        self.books = {tp: Ledger(offset) for tp, offset in known.items()}

    def inputs_caught_up(self, partition: int) -> bool:
        """Whether every input of this partition was read to the end it had at the assignment."""
        tps = [tp for tp in self.timer_targets if tp[1] == partition]
        return bool(tps) and all(
            self.books[tp].passed() >= self.timer_targets[tp] for tp in tps if tp in self.books
        )

    def owned_partitions(self) -> set[int]:
        """Partitions whose source topics this worker reads at present; none while they are taken away."""
        return {partition for _, partition in self.books} if self.flow_active else set()

    def holds(self, block: Block) -> bool:
        """Whether the block belongs to the present assignment."""
        return block.generation == self.epoch and (block.topic, block.partition) in self.books


def consumer_for(
    plan: ReadPlan, fence: Fence, revoke_hooks: list[RevokeHook], drop_hooks: list[Callable[[], None]]
) -> type[BlockConsumer]:
    """Return the consumer class of one app (Faust makes the instance itself)."""
    attributes = {"plan": plan, "fence": fence, "revoke_hooks": revoke_hooks, "drop_hooks": drop_hooks}
    return type("BlockConsumerOfApp", (BlockConsumer,), attributes)
