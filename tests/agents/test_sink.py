"""The sink: acknowledges after the insert, puts poison aside, holds while ClickHouse is away."""

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
from structlog.testing import capture_logs

from agents.sink import Batch, Sink, SinkSettings
from connectors.clickhouse.client import Away
from connectors.clickhouse.writer import Refused
from connectors.kafka.block import Block, Writes
from streams.clock import FixedClock
from streams.records.codec import read_dead_letter, to_json
from streams.records.delivery_event import DeliveryEvent
from streams.statuses import Status
from streams.topics import DEAD_LETTERS, DELIVERY_EVENTS

TOPIC = DELIVERY_EVENTS.full_name
NOW = 1_796_083_200_000
QUICK = SinkSettings(rows=4, age_ms=1_000, most_rows=6, first_pause_ms=1, longest_pause_ms=1)


class Raw(msgspec.Struct):
    """A record as Kafka gives it."""

    offset: int
    value: bytes | None
    topic: str = TOPIC
    partition: int = 0
    timestamp: int = 0
    key: bytes | None = b"d"
    headers: Sequence[tuple[str, bytes]] = ()


def event(n: int) -> DeliveryEvent:
    """Return some event."""
    return DeliveryEvent(f"d-{n}", "n", "t", "u", Status.SENT, "otp", "security", "critical", "sms", NOW, NOW)


def block(*offsets: int, **values: bytes) -> Block:
    """Return a block of events; `at_N=…` replaces the value at offset N."""
    return Block(TOPIC, 0, [Raw(n, values.get(f"at_{n}", to_json(event(n)))) for n in offsets])


@dataclass
class Acknowledged:
    """Notes what is finished, as the transport would apply it."""

    offsets: list[int] = field(default_factory=list)
    letters: list[Any] = field(default_factory=list)
    five: asyncio.Event = field(default_factory=asyncio.Event)

    async def finish(self, block: Block, writes: Writes) -> None:
        self.offsets += [record.offset for record in block]
        if len(self.offsets) >= 5:
            self.five.set()
        self.letters += [read_dead_letter(o["value"]) for o in writes.outputs.get(DEAD_LETTERS.full_name, ())]


@dataclass
class Shelf:
    """Keeps rows; refuses those it is told to, and is away as often as it is told."""

    refuses: frozenset[str] = frozenset()
    away: int = 0
    stored: list[str] = field(default_factory=list)
    batches: list[int] = field(default_factory=list)

    def write(self, events: Sequence[DeliveryEvent]) -> list[Refused]:
        if self.away:
            self.away -= 1
            raise Away("ClickHouse does not take rows (OperationalError)")
        self.batches.append(len(events))
        self.stored += [e.delivery_id for e in events if e.delivery_id not in self.refuses]
        return [
            Refused(n, "VIOLATED_CONSTRAINT") for n, e in enumerate(events) if e.delivery_id in self.refuses
        ]


class Feed:
    """A stream of blocks, that ends when they are all taken."""

    def __init__(self, *blocks: Block) -> None:
        self._blocks = blocks
        self.taken = 0

    async def noack(self) -> AsyncIterator[Block]:
        for one in self._blocks:
            self.taken += 1
            yield one
            await asyncio.sleep(0)


def sink(shelf: Shelf, settings: SinkSettings = QUICK) -> tuple[Sink, Acknowledged]:
    """Return a sink that writes onto the shelf."""
    acknowledged = Acknowledged()
    clock = FixedClock(NOW)
    return Sink(acknowledged, shelf, clock, settings, dice=random.Random(1)), acknowledged


async def test_acknowledged_only_after_the_insert() -> None:
    """Nothing is finished while the rows are not stored, everything afterwards, in order."""
    shelf = Shelf()
    body, acknowledged = sink(shelf)
    await body.events(Feed(block(0, 1), block(2, 3)))
    assert (acknowledged.offsets, shelf.stored) == ([], [])
    await body.flush()
    assert shelf.stored == ["d-0", "d-1", "d-2", "d-3"]
    assert shelf.batches == [4]
    assert acknowledged.offsets == [0, 1, 2, 3]


async def test_what_nobody_can_read_is_put_aside() -> None:
    """Broken JSON, a foreign status and a tombstone go to dead letters whole; the others are stored."""
    shelf = Shelf()
    body, acknowledged = sink(shelf)
    foreign = to_json(event(2)).replace(b'"sent"', b'"canary"')
    await body.events(Feed(block(0, 1, 2, 3, at_1=b"{", at_2=foreign)))
    await body.events(Feed(Block(TOPIC, 0, [Raw(4, None)])))
    await body.flush()
    assert shelf.stored == ["d-0", "d-3"]
    assert [(one.reason, one.offset, one.value) for one in acknowledged.letters] == [
        ("undecodable", 1, b"{"),
        ("undecodable", 2, foreign),
        ("undecodable", 4, b""),
    ]
    assert "canary" not in "".join(one.error for one in acknowledged.letters)


async def test_rows_that_are_refused_are_put_aside() -> None:
    """The refused row's own record goes to dead letters, with its block's acknowledgement."""
    shelf = Shelf(refuses=frozenset({"d-3"}))
    body, acknowledged = sink(shelf)
    await body.events(Feed(block(0, 1), block(2, 3)))
    await body.flush()
    assert [(one.reason, one.offset, one.role) for one in acknowledged.letters] == [("poison", 3, "sink")]
    assert read_value(acknowledged.letters[0].value) == event(3)
    assert acknowledged.offsets == [0, 1, 2, 3]


def read_value(value: bytes) -> DeliveryEvent:
    """Return the event in a dead letter."""
    return msgspec.json.decode(value, type=DeliveryEvent)


async def test_away_is_waited_for_and_told_once() -> None:
    """Fifty failures make two log lines and lose nothing; it recovers by itself."""
    shelf = Shelf(away=50)
    body, acknowledged = sink(shelf)
    await body.events(Feed(block(0, 1)))
    with capture_logs() as lines:
        await body.flush()
    assert [line["event"] for line in lines] == [
        "ClickHouse takes no rows, waiting for it",
        "ClickHouse takes rows again",
    ]
    assert acknowledged.offsets == [0, 1]


async def test_memory_is_bounded_while_it_waits() -> None:
    """No block is taken while too many rows wait; after a flush it goes on."""
    shelf = Shelf()
    body, acknowledged = sink(shelf)
    feed = Feed(*[block(3 * n, 3 * n + 1, 3 * n + 2) for n in range(10)])
    collecting = asyncio.create_task(body.events(feed))
    for _ in range(50):
        await asyncio.sleep(0)
    assert feed.taken == 2
    while not collecting.done():
        await body.flush()
        await asyncio.sleep(0)
    await body.flush()
    assert acknowledged.offsets == list(range(30))
    assert max(shelf.batches) <= QUICK.most_rows + 3


async def test_large_or_old_batches_are_inserted_by_themselves() -> None:
    """The loop inserts at once what is large enough, and what is old enough."""
    shelf = Shelf()
    body, acknowledged = sink(shelf, SinkSettings(rows=4, age_ms=0))
    flushing = asyncio.create_task(body.flushing())
    await body.events(Feed(block(0), block(1, 2, 3, 4)))
    await acknowledged.five.wait()
    flushing.cancel()
    assert shelf.stored == [f"d-{n}" for n in range(5)]


def test_due_by_rows_or_age() -> None:
    """A batch is due when it is large or its oldest block old; an empty one never is."""
    batch = Batch()
    assert not batch.due(QUICK, 10_000)
    batch.add(block(0, 1, 2), 0, 100)
    assert not batch.due(QUICK, 1_099)
    assert batch.due(QUICK, 1_100)
    batch.add(block(3), 0, 1_000)
    assert batch.due(QUICK, 1_001)
