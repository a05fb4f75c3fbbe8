"""The sender's loops: blocks become deliveries in order per user, many users at once."""

import asyncio
import time
from dataclasses import dataclass
from functools import partial

from agents.sender.attempt import Attempts
from agents.sender.verdict import ROLE
from connectors.kafka.app import Blocks
from connectors.kafka.block import Block, Record, Writes
from connectors.kafka.exits import leave_on_error
from connectors.kafka.transport import Transport
from streams.clock import Clock
from streams.reasons import Reason
from streams.records.codec import read_delivery, read_stop
from streams.records.delivery import Delivery
from streams.records.state import Stops
from streams.records.unfit import Unfit
from tables.stops import StopsTable, applied

_BUSY_MS = 1_000


@dataclass(frozen=True)
class SenderSettings:
    """What an installation may set."""

    in_flight: int = 256  # provider calls at once, with their claims
    chain_wait_ms: int = 2_000  # so long may a user's delivery be under way while the next one waits


@dataclass(eq=False, slots=True)
class _Going:
    """A delivery on its way; the user's next one waits for it."""

    delivery: Delivery
    task: asyncio.Task[None] | None = None
    begun_s: float = 0.0  # since when it has a place; 0: it still waits for one
    gave_way_to: "_Going | None" = None  # whose call takes too long
    back_ms: int = 0  # when it comes again, having given way

    @property
    def under_way(self) -> bool:
        return self.task is not None and not self.task.done()


class Sender:
    """Never repeats a call unknowingly: each claim is durable before its call.

    A block is finished when each of its deliveries has a durable verdict; a slow call holds its
    block's acknowledgement, never the processing of others.
    """

    def __init__(
        self,
        transport: Transport,
        attempts: Attempts,
        stops: StopsTable,
        clock: Clock,
        settings: SenderSettings,
    ) -> None:
        self._transport = transport
        self._attempts = attempts
        self._stops = stops
        self._clock = clock
        self._chain_wait_s = settings.chain_wait_ms / 1000
        self._places = asyncio.Semaphore(settings.in_flight)
        self._last_of: dict[str, _Going] = {}
        self._waiting: set[asyncio.Task[None] | None] = set()  # not yet claimed: may be abandoned
        self._calling: set[asyncio.Task[None]] = set()

    async def deliveries(self, blocks: Blocks) -> None:
        """Send what the router decided."""
        async for block in blocks.noack():
            if self._transport.current(block):
                self._begin(block)
            await asyncio.sleep(0)

    def _begin(self, block: Block) -> None:
        writes = Writes(block.partition)
        tasks: list[asyncio.Task[None]] = []
        loop = asyncio.get_running_loop()
        for record in block:
            try:
                delivery = read_delivery(record.value or b"")
            except ValueError as error:  # msgspec's errors are ValueErrors
                unfit = Unfit(Reason.UNDECODABLE, "", str(error), dead_letter=True)
                writes.set_aside(record, unfit, ROLE, self._clock.now_ms(), None)
                continue
            own, before = _Going(delivery), self._last_of.get(delivery.user_id)
            own.task = loop.create_task(self._one(own, record, block.partition, before))
            self._last_of[delivery.user_id] = own
            own.task.add_done_callback(partial(self._ended, own))
            self._waiting.add(own.task)
            tasks.append(own.task)
        self._attempts.poison.note(self._clock.now_ms(), len(block), len(block) - len(tasks))
        closing = loop.create_task(self._close(block, writes, tasks))
        self._calling.add(closing)
        closing.add_done_callback(self._calling.discard)
        closing.add_done_callback(leave_on_error)

    async def _one(self, own: _Going, record: Record, partition: int, before: _Going | None) -> None:
        if before is not None:
            own.gave_way_to = await self._in_the_way(before, own.delivery.delivery_id)
        if before is not None and own.gave_way_to is not None:
            # After the one before it, so that what gives way keeps its order.
            own.back_ms = max(self._clock.now_ms() + _BUSY_MS, before.back_ms + 1)
            await self._attempts.give_way(own.delivery, record, partition, own.back_ms)
            return
        async with self._places:
            own.begun_s = time.monotonic()
            await self._attempts.settle(
                own.delivery, record, partition, partial(self._waiting.discard, own.task)
            )

    async def _in_the_way(self, before: _Going, delivery_id: str) -> _Going | None:
        """Wait for the user's delivery before this one; returns the one that is too long under way, if any.

        Whoever waits behind one that gives way gives way as well. A second copy of a delivery
        waits for the first, however long.
        """
        while before.task is not None and before.under_way:
            left_s = self._chain_wait_s
            if before.begun_s and before.delivery.delivery_id != delivery_id:
                left_s -= time.monotonic() - before.begun_s
                if left_s <= 0:
                    return before
            await asyncio.wait([before.task], timeout=left_s)
        return before.gave_way_to

    def _ended(self, own: _Going, task: asyncio.Task[None]) -> None:
        self._waiting.discard(task)
        if self._last_of.get(own.delivery.user_id) is own:
            head = own.gave_way_to
            if head is not None and head.under_way:
                self._last_of[own.delivery.user_id] = head  # whoever comes now still finds it in the way
            else:
                del self._last_of[own.delivery.user_id]

    async def _close(self, block: Block, writes: Writes, tasks: list[asyncio.Task[None]]) -> None:
        """Finish the block once every delivery has its verdict; abandoned ones leave it open."""
        if tasks:
            await asyncio.wait(tasks)
        if any(task.cancelled() for task in tasks):
            return
        for task in tasks:
            task.result()  # an error must not be taken for a verdict
        await self._transport.finish(block, writes)

    async def stops(self, blocks: Blocks) -> None:
        """Learn what must not be sent any more."""
        async for block in blocks.noack():
            if self._transport.current(block):
                await self._transport.finish(block, self._learn(block))

    def _learn(self, block: Block) -> Writes:
        writes = Writes(block.partition)
        known: dict[bytes, Stops] = {}
        for record in block:
            try:
                stop = read_stop(record.value or b"")
            except ValueError as error:  # msgspec's errors are ValueErrors
                unfit = Unfit(Reason.UNDECODABLE, "", str(error), dead_letter=True)
                writes.set_aside(record, unfit, ROLE, self._clock.now_ms(), None)
                continue
            user = record.key or b""
            before = known.get(user) or self._stops.of(block.partition, user) or Stops()
            known[user] = applied(before, stop, record.offset)
        for user, stops in known.items():
            self._stops.save(writes, user, stops)
        return writes

    async def abandon(self, _: set[int]) -> None:
        """Drop what is not claimed and let calls under way end (partitions are being taken away)."""
        while self._calling:
            for task in list(self._waiting):
                if task is not None:
                    task.cancel()
            self._attempts.claiming.flush()
            self._attempts.settling.flush()
            await asyncio.wait(list(self._calling), timeout=0.05)
