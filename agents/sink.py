"""The sink: every delivery event becomes a row, at least once; what is a row twice changes nothing.

Blocks are acknowledged after their rows are stored, so a crash at any point reads them again.
While ClickHouse is away it takes no more blocks than fit in memory, and waits.
"""

import asyncio
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

import structlog
from msgspec import ValidationError

from agents.poison import PoisonGuard
from connectors.clickhouse.client import Away
from connectors.clickhouse.writer import Refused
from connectors.kafka.app import Blocks
from connectors.kafka.block import Block, Record, Writes
from connectors.once import Once
from connectors.pacing.monotonic import monotonic_ms
from connectors.telemetry import Telemetry
from streams.clock import Clock
from streams.metrics import SINK_REFUSED, SINK_ROWS
from streams.reasons import Reason
from streams.records.codec import pointer_of, read_delivery_event
from streams.records.delivery_event import DeliveryEvent
from streams.records.unfit import Unfit

ROLE: Final = "sink"
_TICK_S: Final = 0.05

log = structlog.get_logger(__name__)


class Transport(Protocol):
    """What the sink needs of `connectors.kafka.transport.Transport`."""

    async def finish(self, block: Block, writes: Writes) -> None:
        """Apply the writes of a block and acknowledge it."""
        ...


class EventWriter(Protocol):
    """What the sink needs of `connectors.clickhouse.writer.Writer`."""

    def write(self, events: Sequence[DeliveryEvent]) -> list[Refused]:
        """Store the events; returns those refused. Raises Away."""
        ...


@dataclass(frozen=True)
class SinkSettings:
    """How much is collected before it is inserted, and how long to wait for ClickHouse."""

    rows: int = 20_000  # insert at once when so many wait
    age_ms: int = 1_000  # or when the oldest has waited so long
    most_rows: int = 50_000  # take no more blocks while so many wait
    first_pause_ms: int = 500
    longest_pause_ms: int = 30_000


@dataclass
class Batch:
    """Rows on their way into one insert, and the blocks that are acknowledged after it."""

    events: list[DeliveryEvent] = field(default_factory=list)
    sources: list[tuple[Record, Writes]] = field(default_factory=list)  # of each event
    blocks: list[tuple[Block, Writes]] = field(default_factory=list)
    since_ms: float = 0.0

    def add(self, block: Block, now_ms: int, at_ms: float) -> None:
        """Take a block's records; those that nobody can read are put aside with the block's writes.

        `now_ms` is the time, `at_ms` a clock that never jumps.
        """
        if not self.blocks:
            self.since_ms = at_ms
        writes = Writes(block.partition)
        for record in block:
            try:
                event = read_delivery_event(record.value or b"")
            except ValueError as error:  # msgspec's errors are ValueErrors
                place = pointer_of(error) if isinstance(error, ValidationError) else ""
                unfit = Unfit(Reason.UNDECODABLE, place, type(error).__name__, dead_letter=True)
                writes.set_aside(record, unfit, ROLE, now_ms, None)
                continue
            self.events.append(event)
            self.sources.append((record, writes))
        self.blocks.append((block, writes))

    def due(self, settings: SinkSettings, at_ms: float) -> bool:
        """Whether it is large or old enough to be inserted."""
        if not self.blocks:
            return False
        return len(self.events) >= settings.rows or at_ms - self.since_ms >= settings.age_ms

    def refuse(self, refused: Sequence[Refused], now_ms: int) -> None:
        """Put rows that ClickHouse will never take aside, whole, with the writes of their blocks."""
        for one in refused:
            record, writes = self.sources[one.place]
            unfit = Unfit(Reason.POISON, "", f"ClickHouse refused the row: {one.error}", dead_letter=True)
            writes.set_aside(record, unfit, ROLE, now_ms, None)


class Sink:
    """Collects, inserts, then acknowledges; one insert is under way while the next is collected."""

    def __init__(
        self,
        transport: Transport,
        writer: EventWriter,
        clock: Clock,
        settings: SinkSettings | None = None,
        telemetry: Telemetry | None = None,
        dice: random.Random | None = None,
        monotonic: Callable[[], float] = monotonic_ms,
    ) -> None:
        self._transport = transport
        self._writer = writer
        self._clock = clock
        self._settings = settings or SinkSettings()
        self._telemetry = telemetry
        self._dice = dice or random.SystemRandom()
        self._monotonic = monotonic
        self._poison = PoisonGuard()
        self._once = Once(log)
        self._batch = Batch()
        self._room = asyncio.Event()
        self._full = asyncio.Event()

    async def events(self, blocks: Blocks) -> None:
        """Collect blocks; while too many rows wait, none is taken."""
        async for block in blocks.noack():
            self._batch.add(block, self._clock.now_ms(), self._monotonic())
            if len(self._batch.events) >= self._settings.rows:
                self._full.set()
            while len(self._batch.events) >= self._settings.most_rows:
                self._room.clear()
                await self._room.wait()

    async def flushing(self) -> None:
        """Insert what is due, for as long as the process lives."""
        while True:
            if self._batch.due(self._settings, self._monotonic()):
                await self.flush()
            try:
                self._full.clear()
                await asyncio.wait_for(self._full.wait(), _TICK_S)
            except TimeoutError:
                continue

    async def flush(self) -> None:
        """Insert what was collected and acknowledge its blocks; returns when that is done."""
        batch, self._batch = self._batch, Batch()
        self._room.set()
        refused = await self._insert(batch)
        now_ms = self._clock.now_ms()
        self._poison.note(now_ms, len(batch.events), len(refused))
        batch.refuse(refused, now_ms)
        if self._telemetry is not None:
            self._telemetry.add(SINK_ROWS, len(batch.events) - len(refused))
            self._telemetry.add(SINK_REFUSED, len(refused))
        for block, writes in batch.blocks:
            await self._transport.finish(block, writes)

    async def _insert(self, batch: Batch) -> list[Refused]:
        """Insert until ClickHouse took it; waits with growing, jittered pauses and says so once."""
        pause_ms = self._settings.first_pause_ms
        while True:
            try:
                refused = await asyncio.to_thread(self._writer.write, batch.events)
            except Away as away:
                self._once.warn("clickhouse", "ClickHouse takes no rows, waiting for it", error=str(away))
                await asyncio.sleep(pause_ms * self._dice.uniform(0.5, 1.0) / 1000)
                pause_ms = min(2 * pause_ms, self._settings.longest_pause_ms)
                continue
            self._once.over("clickhouse", "ClickHouse takes rows again")
            return refused
