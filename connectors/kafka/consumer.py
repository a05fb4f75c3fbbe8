"""Faust's consumer, handing agents whole blocks and committing only what is finished.

It replaces stock Faust's reading, bookkeeping and waiting, which lose or repeat records around
rebalances, recovery and errors. Each name it overrides is checked at start (`selftest`).
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, cast

from aiokafka import ConsumerRecord
from faust.transport.drivers.aiokafka import Consumer
from faust.types.tuples import TP, ConsumerMessage

from connectors.kafka.block import Block
from connectors.kafka.exits import leave
from connectors.kafka.fence import Fence, boot_seconds
from connectors.kafka.ledger import Ledger
from connectors.kafka.plan import Ask, ReadPlan, Tp, asks
from connectors.kafka.thread import BlockConsumerThread, Poll
from streams.errors import OffsetGap

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
        self._held: deque[tuple[Tp, Block, Tp, int]] = deque()  # waiting for their gate
        self._moved = asyncio.Event()

    def _new_consumer_thread(self) -> BlockConsumerThread:
        thread = BlockConsumerThread(self, loop=self.loop, beacon=self.beacon)
        thread.plan, thread.fence = self.plan, self.fence
        return thread

    @property
    def _blocks(self) -> BlockConsumerThread:
        return cast(BlockConsumerThread, self._thread)

    # -- reading ---------------------------------------------------------------------------

    async def _drain_messages(self, fetcher: Any) -> None:
        def stopping() -> bool:
            return bool(self._stopped.is_set() or fetcher._stopped.is_set())

        try:
            while not stopping():
                if self.flow_active:
                    await self._turn()
                else:
                    await self.wait(self.can_resume_flow)
        except self.consumer_stopped_errors:
            if not self.transport.app.should_stop:
                raise
        except asyncio.CancelledError:
            if not self.transport.app.should_stop:
                raise

    async def _turn(self) -> None:
        generation = self.app.consumer_generation_id
        wanted, waits = self._wanted()
        await self._release(generation)
        if not wanted:
            await self._wait_moved(_BUSY_POLL_S if self._held else _IDLE_POLL_S)
            return
        poll = await self._blocks.poll(
            wanted, self._gates, tuple(self.books), _BUSY_POLL_S if waits or self._held else _IDLE_POLL_S
        )
        if self.flow_active and generation == self.app.consumer_generation_id:
            await self._enter(poll, generation)

    @property
    def _gates(self) -> dict[Tp, Tp]:
        gates = self.plan.gates
        return {tp: (gates[tp[0]], tp[1]) for tp in self.books if tp[0] in gates}

    def _wanted(self) -> tuple[list[Ask], bool]:
        active = {(tp.topic, tp.partition) for tp in self._get_active_partitions()}
        sources = [tp for tp in active if tp in self.books]
        changelogs = tuple(tp for tp in active if tp[0] in self.app.tables.changelog_topics)
        held = {tp for tp, *_ in self._held}
        wanted, waits = asks(self.plan, (tp for tp in sources if tp not in held), self.books)
        if changelogs:
            if self.app.tables.changelog_queue.qsize() < _RECOVERY_QUEUE:
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

    async def _enter(self, poll: Poll, generation: int) -> None:
        for tp, position in poll.positions.items():
            if tp in self.books:
                self.books[tp].position = position
        for tp, records in poll.records:
            book = self.books.get(tp)
            if book is None:  # a changelog, while tables are restored
                await self._hand_out(tp, Block(tp[0], tp[1], records, generation), generation)
                continue
            self._check_offsets(tp, book, records)
            block = Block(tp[0], tp[1], records, generation, book.add(records[0].offset, records[-1].offset))
            gate = self._gates.get(tp)
            if gate is None:
                await self._hand_out(tp, block, generation)
            else:
                self._held.append((tp, block, gate, poll.stable_ends[gate]))
        await self._release(generation)

    def _check_offsets(self, tp: Tp, book: Ledger, records: list[ConsumerRecord]) -> None:
        first = records[0].offset
        if book.expected is None:
            return
        if first < book.expected:
            leave(OffsetGap(f"{tp[0]}/{tp[1]}: offset {first} came again, expected {book.expected}"))
        if first > book.expected and tp[0] in self.plan.gapless:
            leave(OffsetGap(f"{tp[0]}/{tp[1]}: offsets {book.expected}..{first - 1} are missing"))

    async def _release(self, generation: int) -> None:
        """Hand out held blocks whose gate has been read to the end it had when they came."""
        for _ in range(len(self._held)):
            tp, block, gate, end = self._held.popleft()
            if block.generation != generation or tp not in self.books:
                continue
            if gate in self.books and self.books[gate].passed() < end:
                self._held.append((tp, block, gate, end))
            else:
                await self._hand_out(tp, block, generation)

    async def _hand_out(self, tp: Tp, block: Block, generation: int) -> None:
        last = block.records[-1]
        message = ConsumerMessage(
            tp[0], tp[1], last.offset, last.timestamp / 1000, 0, None, None, block, None, 0, 0,
            TP(*tp), generation_id=generation,
        )  # fmt: skip
        await self.wait_first(self.callback(message), self.suspend_flow.wait())

    # -- acknowledging ---------------------------------------------------------------------

    def applied(self, block: Block) -> None:
        """The block's writes are decided and visible in memory."""
        if block.entry is not None and not block.entry.applied:
            block.entry.applied = True
            self._moved.set()

    def finished(self, block: Block) -> None:
        """The block's writes are durable; blocks of an older generation count nowhere."""
        if block.entry is not None:
            block.entry.applied = block.entry.done = True
            self._moved.set()

    def track_message(self, message: Any) -> None:
        """Nothing to track: the ledger holds what is unfinished."""

    async def force_commit(self, topics: Any = None, start_new_transaction: bool = True) -> bool:
        offsets = {tp: end for tp, book in self.books.items() if (end := book.committable()) is not None}
        if not offsets:
            return False
        self.fence.check()
        if not await self._commit({TP(*tp): end for tp, end in offsets.items()}):
            return False  # refused during a rebalance: said again by the next commit
        for tp, end in offsets.items():
            if tp in self.books:
                self.books[tp].committed = end
        return True

    # -- gaining and losing partitions -------------------------------------------------------

    async def wait_empty(self) -> None:
        """Let what was begun end, for a bounded time, and commit it."""
        self._held.clear()
        owned = {partition for _, partition in self.books}
        try:
            await asyncio.wait_for(self._run_revoke_hooks(owned), _DRAIN_S)
        except TimeoutError:
            leave(OffsetGap(f"work did not end within {_DRAIN_S:.0f} s of losing partitions"))
        await self.commit_and_end_transactions()

    async def _run_revoke_hooks(self, owned: set[int]) -> None:
        for hook in self.revoke_hooks:  # in order: first the agents end, then their writes
            await hook(owned)

    async def on_partitions_revoked(self, revoked: set[TP]) -> None:
        try:
            await super().on_partitions_revoked(revoked)
        finally:
            self.books.clear()
            self.timer_targets.clear()
            self._held.clear()
            for hook in self.drop_hooks:
                hook()

    async def on_partitions_assigned(self, assigned: set[TP], generation_id: int = 0) -> None:
        self.fence.renew(boot_seconds())
        await super().on_partitions_assigned(assigned, generation_id)

    async def perform_seek(self) -> None:
        """Seek to what is committed and open fresh books; no record flows meanwhile."""
        self.stop_flow()
        committed = await self.seek_to_committed()
        changelogs = self.app.tables.changelog_topics
        known = {
            (tp.topic, tp.partition): offset if offset is not None and offset >= 0 else None
            for tp, offset in committed.items()
            if tp.topic in self.plan.ranks and tp.topic not in changelogs
        }
        await self._check_log_starts(known)
        self.timer_targets = await self._blocks.stable_ends(known)
        self._held.clear()
        self.books = {tp: Ledger(offset) for tp, offset in known.items()}

    async def _check_log_starts(self, known: dict[Tp, int | None]) -> None:
        starts = await self._blocks.log_starts(known)
        for tp, offset in known.items():
            if offset is not None and offset < starts.get(tp, 0):
                leave(
                    OffsetGap(
                        f"{tp[0]}/{tp[1]}: committed offset {offset} is below the log's start {starts[tp]}: records "
                        f"expired unread. To go on without them, stop this group and reset its offset to {starts[tp]}"
                    )
                )

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
        return (
            block.generation == self.app.consumer_generation_id
            and (block.topic, block.partition) in self.books
        )


def consumer_for(
    plan: ReadPlan, fence: Fence, revoke_hooks: list[RevokeHook], drop_hooks: list[Callable[[], None]]
) -> type[BlockConsumer]:
    """Return the consumer class of one app (Faust makes the instance itself)."""
    attributes = {"plan": plan, "fence": fence, "revoke_hooks": revoke_hooks, "drop_hooks": drop_hooks}
    return type("BlockConsumerOfApp", (BlockConsumer,), attributes)
