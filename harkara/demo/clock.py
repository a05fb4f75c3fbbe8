"""Moves the clock of the whole pipeline and waits until every process has it."""

import asyncio
import time

from harkara.clock_shift import shift_clocks
from harkara.embedded.pipeline import EmbeddedPipeline
from harkara.wall_clock import WallClock
from streams.errors import HarkaraError

_PATIENCE_S = 30.0
_POLL_S = 0.05


class ClockStuck(HarkaraError):
    """A role did not follow the clock."""


async def jump(pipeline: EmbeddedPipeline, to_ms: int) -> int:
    """Make it `to_ms` for every role; returns how far clocks run ahead of the wall now."""
    offset_ms = to_ms - WallClock().now_ms()
    await asyncio.to_thread(shift_clocks, pipeline.addresses.kafka, offset_ms, "harkara demo")
    start = time.monotonic()
    waiting = set(pipeline.roles)
    while waiting:
        for name in sorted(waiting):
            facts = await asyncio.to_thread(pipeline.facts, name)
            if facts is not None and facts.get("clock_offset_ms") == offset_ms:
                waiting.discard(name)
        if time.monotonic() - start > _PATIENCE_S:
            raise ClockStuck(f"{', '.join(sorted(waiting))}: no new time within {_PATIENCE_S:.0f} s")
        if waiting:
            await asyncio.sleep(_POLL_S)
    return offset_ms
