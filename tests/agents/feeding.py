"""Feeds agents blocks made by hand, as Kafka would after a crash: again from the committed offset."""

import asyncio
from collections.abc import AsyncIterator, Sequence

import msgspec
from aiokafka import ConsumerRecord

from agents.router import Router, RouterSettings
from connectors.kafka.block import Block
from connectors.telemetry import Telemetry
from harkara.testing import Crash, RecordingTransport
from streams.catalog import Catalog
from streams.clock import FixedClock
from streams.policy.freshness import Freshness
from streams.topics import INGEST, Lane, Topic

encode = msgspec.json.Encoder().encode


class Fed:
    """A stream of given blocks."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self._blocks = blocks

    async def noack(self) -> AsyncIterator[Block]:
        for block in self._blocks:
            yield block


def record(
    topic: Topic, offset: int, key: str | bytes | None, value: object, **headers: bytes
) -> ConsumerRecord:
    """Make one record of partition 0; a value that is not bytes becomes JSON."""
    raw = value if isinstance(value, bytes) else encode(value)
    key_bytes = key.encode() if isinstance(key, str) else key
    return ConsumerRecord(
        topic.full_name, 0, offset, 0, 0, key_bytes, raw, None, 0, len(raw), tuple(headers.items())
    )


def blocks_of(topic: Topic, records: Sequence[ConsumerRecord], size: int, start: int) -> list[Block]:
    """Cut the records from offset `start` on into blocks."""
    rest = [one for one in records if one.offset >= start]
    return [Block(topic.full_name, 0, rest[i : i + size]) for i in range(0, len(rest), size)]


def router_of(transport: RecordingTransport, catalog: Catalog, clock: FixedClock) -> Router:
    """Make a router of one partition."""
    return Router(transport, catalog, clock, Telemetry(), RouterSettings(1, Freshness()))  # type: ignore[arg-type]  # stands in


def ingest(
    transport: RecordingTransport,
    catalog: Catalog,
    clock: FixedClock,
    records: Sequence[ConsumerRecord],
    size: int = 7,
    lane: Lane = Lane.TRANSACTIONAL,
) -> bool:
    """Let a router read on from what is committed; returns whether it got to the end."""
    topic = INGEST[lane]
    blocks = blocks_of(topic, records, size, transport.committed(topic.full_name, 0))
    try:
        asyncio.run(router_of(transport, catalog, clock).ingest(Fed(blocks)))
    except Crash:
        transport.restart()
        return False
    return True
