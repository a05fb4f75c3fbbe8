"""The sink through a kill of the real ClickHouse."""

import asyncio
from pathlib import Path

import pytest

from agents.sink import Sink, SinkSettings
from connectors.clickhouse.client import INSERTING, connect
from connectors.clickhouse.schema import Schema
from connectors.clickhouse.writer import Writer
from connectors.embedded.stack import Stack
from connectors.kafka.block import Block, Writes
from streams.clock import FixedClock
from streams.records.codec import to_json
from streams.topics import DELIVERY_EVENTS
from tests.agents.test_sink import Raw, event


@pytest.mark.integration
async def test_nothing_is_lost_when_clickhouse_is_killed(tmp_path: Path) -> None:
    """Killed before the insert, ClickHouse comes back and gets every row, once."""
    with Stack(tmp_path, kafka="127.0.0.1:1", redis="redis://127.0.0.1:1") as stack:
        url = stack.addresses.clickhouse
        Schema(connect(url)).apply()
        finished: list[int] = []

        class Transport:
            async def finish(self, block: Block, writes: Writes) -> None:
                finished.extend(record.offset for record in block)

        settings = SinkSettings(first_pause_ms=20, longest_pause_ms=100)
        sink = Sink(Transport(), Writer.of(url, b"k" * 32), FixedClock(0), settings)

        class Blocks:
            async def noack(self):  # type: ignore[no-untyped-def]  # an async generator of blocks
                for n in range(4):
                    records = [Raw(10 * n + i, to_json(event(10 * n + i))) for i in range(10)]
                    yield Block(DELIVERY_EVENTS.full_name, 0, records)
                    if n == 1:
                        await sink.flush()
                        stack.kill("clickhouse")

        await sink.events(Blocks())
        await sink.flush()
        await asyncio.to_thread(stack.wait)
        count = connect(url, INSERTING).query("SELECT count() FROM harkara.v_timeline").result_rows
        assert count == [(40,)]
        assert finished == list(range(40))
