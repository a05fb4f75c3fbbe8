"""The consumer's books around assignments, driven by hand: no broker is asked."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from aiokafka.errors import IllegalStateError
from faust.types.tuples import TP

from connectors.kafka.app import AppSettings, BlockApp
from connectors.kafka.block import Block
from connectors.kafka.consumer import BlockConsumer
from connectors.kafka.plan import ReadPlan, Tp
from connectors.kafka.producer import BlockProducer, ProducerSettings
from connectors.kafka.thread import Poll
from streams.errors import SettingError
from streams.topics import Topic

NOBODY = "127.0.0.1:1"
FLAGS = Topic(901, "flags", "user", "anything", None, by_user=True)
SOURCE = Topic(902, "source", "user", "anything", None, by_user=True)
FLAG_TP, SOURCE_TP = (FLAGS.full_name, 0), (SOURCE.full_name, 0)


class HandThread:
    """Answers what the group and the logs would."""

    def __init__(self) -> None:
        self.committed: dict[TP, int | None] = {TP(*FLAG_TP): 0, TP(*SOURCE_TP): 5}
        self.ends: dict[Tp, int] = {FLAG_TP: 0, SOURCE_TP: 20}
        self.told: list[dict[TP, int]] = []
        self.meanwhile: Callable[[], Awaitable[None]] | None = None

    async def seek_to_committed(self) -> dict[TP, int | None]:
        return self.committed

    async def stable_ends(self, tps: Iterable[Tp]) -> dict[Tp, int]:
        if self.meanwhile is not None:
            await self.meanwhile()
        return {tp: self.ends[tp] for tp in tps}

    async def log_starts(self, tps: Iterable[Tp]) -> dict[Tp, int]:
        return dict.fromkeys(tps, 0)

    async def commit(self, offsets: dict[TP, int]) -> bool:
        if self.meanwhile is not None:
            await self.meanwhile()
        self.told.append(offsets)
        return True


class Assigned:
    """A consumer that reads a gate and a gated source of one partition."""

    def __init__(self, folder: Path) -> None:
        plan = ReadPlan({FLAGS.full_name: 0, SOURCE.full_name: 1}, {SOURCE.full_name: FLAGS.full_name})
        producer = BlockProducer(ProducerSettings(NOBODY, "test", message_timeout_ms=1_000))
        self.app = BlockApp(AppSettings("test", NOBODY, folder, 1, session_ms=6_000), plan, (), producer)
        self.thread = HandThread()
        self.consumer = cast(BlockConsumer, self.app.faust.consumer)
        self.unused = self.consumer._thread
        self.consumer._thread = cast(Any, self.thread)
        self.handed: list[Block] = []
        self.consumer.callback = self._callback
        self.meanwhile: Callable[[], Awaitable[None]] | None = None

    async def _callback(self, message: Any) -> None:
        if self.meanwhile is not None:
            await self.meanwhile()
        self.handed.append(message.value)

    async def begin(self) -> None:
        await self.consumer.perform_seek()
        self.consumer.resume_flow()

    async def lose(self) -> None:
        """Lose all partitions, as a rebalance takes them away."""
        await self.consumer.on_partitions_revoked(set())

    async def take(self, poll: Poll) -> None:
        """Enter and hand out what a poll brought."""
        await self.consumer._hand_out(self.consumer._enter(poll), self.consumer.epoch)


@pytest.fixture
async def assigned(tmp_path: Path) -> AsyncIterator[Assigned]:
    """A consumer before its first assignment, on the loop of the test."""
    made = Assigned(tmp_path)
    yield made
    made.unused.thread_loop.close()


def _records(*offsets: int) -> Any:
    return [SimpleNamespace(offset=offset, timestamp=0) for offset in offsets]


def _poll(records: list[tuple[Tp, Any]], positions: dict[Tp, int], flags_end: int = 0) -> Poll:
    return Poll(records, {FLAG_TP: flags_end}, {}, positions)


async def test_books_begin_at_what_is_committed(assigned: Assigned) -> None:
    """The next block is expected there, and timers wait for the ends seen at the assignment."""
    await assigned.begin()
    assert assigned.consumer.books[SOURCE_TP].expected == 5
    assert assigned.consumer.owned_partitions() == {0}
    assert not assigned.consumer.inputs_caught_up(0)


async def test_a_position_is_never_seen_without_its_records(assigned: Assigned) -> None:
    """While the first block of a poll is handed out, the second one is booked already."""
    await assigned.begin()
    consumer, seen = assigned.consumer, []

    async def look() -> None:
        seen.append(consumer.inputs_caught_up(0))

    assigned.meanwhile = look
    assigned.thread.ends[FLAG_TP] = 3
    consumer.timer_targets[FLAG_TP] = 3
    await assigned.take(
        _poll([(FLAG_TP, _records(0, 1, 2)), (SOURCE_TP, _records(5, 19))], {FLAG_TP: 3, SOURCE_TP: 20})
    )
    assert seen == [False, False]
    for block in assigned.handed:
        consumer.applied(block)
    assert consumer.inputs_caught_up(0)


async def test_a_gated_block_waits_for_the_gates_end(assigned: Assigned) -> None:
    """Flags that came with it are decided first; then it is handed out."""
    await assigned.begin()
    records = [(FLAG_TP, _records(0, 1)), (SOURCE_TP, _records(5, 6))]
    await assigned.take(_poll(records, {FLAG_TP: 2, SOURCE_TP: 7}, flags_end=2))
    assert [block.topic for block in assigned.handed] == [FLAGS.full_name]
    assigned.consumer.applied(assigned.handed[0])
    await assigned.take(_poll([], {}))
    assert [block.topic for block in assigned.handed] == [FLAGS.full_name, SOURCE.full_name]


async def test_nothing_of_an_older_assignment_is_handed_out(assigned: Assigned) -> None:
    """Partitions are lost while the first of two blocks waits for its queue: the second is dropped."""
    await assigned.begin()
    assigned.meanwhile = assigned.lose
    await assigned.take(_poll([(FLAG_TP, _records(0)), (SOURCE_TP, _records(5))], {FLAG_TP: 1, SOURCE_TP: 6}))
    assert len(assigned.handed) == 1
    assert not assigned.consumer.holds(assigned.handed[0])


async def test_a_block_of_an_older_assignment_counts_nowhere(assigned: Assigned) -> None:
    """The same partition came back: what was begun before is read again, not acknowledged."""
    await assigned.begin()
    await assigned.take(_poll([(SOURCE_TP, _records(5, 6))], {SOURCE_TP: 7}))
    (old,) = assigned.handed
    assert assigned.consumer.holds(old)
    await assigned.lose()
    assert assigned.consumer.owned_partitions() == set()
    await assigned.begin()
    assert not assigned.consumer.holds(old)
    assigned.consumer.finished(old)
    assert assigned.consumer.books[SOURCE_TP].committable() is None


async def test_partitions_lost_during_the_seek_are_not_read(assigned: Assigned) -> None:
    """The books of an assignment that is gone must not stand beside the next one's records."""

    async def lose() -> None:
        assigned.thread.meanwhile = None
        await assigned.lose()

    assigned.thread.meanwhile = lose
    with pytest.raises(IllegalStateError):
        await assigned.consumer.perform_seek()
    assert assigned.consumer.books == {}
    assert not assigned.consumer.flow_active


async def test_no_flow_while_an_assignment_is_taken_in(assigned: Assigned) -> None:
    """Nothing is read before tables are restored, also by a worker that had no partitions before."""
    assigned.consumer.resume_flow()
    seen: list[bool] = []

    async def look(*_: Any) -> None:
        seen.append(assigned.consumer.flow_active)

    assigned.consumer._on_partitions_assigned = cast(Any, look)
    assigned.consumer.app.on_rebalance_start()
    await assigned.consumer.on_partitions_assigned({TP(*SOURCE_TP)}, 7)
    assert seen == [False]


async def test_finished_blocks_are_committed_once(assigned: Assigned) -> None:
    """The finished prefix, then the position behind it, and nothing when Kafka knows it already."""
    await assigned.begin()
    assigned.consumer.books[FLAG_TP].committed = 0
    await assigned.take(_poll([(SOURCE_TP, _records(5, 6))], {SOURCE_TP: 8}))
    assert not await assigned.consumer.force_commit()
    assigned.consumer.finished(assigned.handed[0])
    assert await assigned.consumer.force_commit()
    assert assigned.thread.told == [{TP(*SOURCE_TP): 8}]
    assert not await assigned.consumer.force_commit()


async def test_a_commit_that_ends_late_is_not_taken_for_the_next_assignments(assigned: Assigned) -> None:
    """The books of the next assignment know what they were told when it began."""
    await assigned.begin()
    await assigned.take(_poll([(SOURCE_TP, _records(5, 6))], {SOURCE_TP: 7}))
    assigned.consumer.finished(assigned.handed[0])

    async def again() -> None:
        assigned.thread.meanwhile = None
        await assigned.lose()
        await assigned.begin()

    assigned.thread.meanwhile = again
    await assigned.consumer.force_commit()
    assert assigned.consumer.books[SOURCE_TP].committed == 5


async def test_work_that_does_not_end_is_waited_for_in_order(assigned: Assigned) -> None:
    """On a revoke the agents end first, then their writes, then what they finished is committed."""
    order: list[str] = []

    async def agents(owned: set[int]) -> None:
        order.append(f"agents of {owned}")

    async def writes(_: set[int]) -> None:
        await asyncio.sleep(0)
        order.append("writes")

    assigned.consumer.revoke_hooks[:] = [writes]
    assigned.app.on_revoke(agents)
    await assigned.begin()
    await assigned.consumer.wait_empty()
    assert order == ["agents of {0}", "writes"]


def test_a_producer_that_outlives_the_session_is_refused(tmp_path: Path) -> None:
    """A record must be given up before somebody else may own its partition."""
    producer = BlockProducer(ProducerSettings(NOBODY, "test", message_timeout_ms=3_000))
    with pytest.raises(SettingError, match="3000 is not below half of 6000"):
        BlockApp(AppSettings("test", NOBODY, tmp_path, 1, session_ms=6_000), ReadPlan({}), (), producer)
