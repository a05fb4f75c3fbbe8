"""Plays the day: five scenes at wall speed, with the clock jumping between them."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from msgspec import Struct
from rich.console import Console

from connectors.simulator.client import SimulatorClient
from harkara.demo.clock import jump
from harkara.demo.draining import Draining
from harkara.demo.faults import DOWN, NARROW, PROVIDER
from harkara.demo.live import LiveStatus
from harkara.demo.pacing_log import PacingLog, Sample
from harkara.demo.timetable import Timetable
from harkara.demo.world import World
from harkara.demo.writing import Producers
from harkara.embedded.pipeline import EmbeddedPipeline
from harkara.tally import Tally
from harkara.wall_clock import WallClock
from harkara.watch import Watch
from streams.statuses import Status

_BEFORE_OUTAGE_S = 1.0
_OUTAGE_S = 6.5
_NARROW_S = 2.5  # once the provider is called again
_PATIENCE_S = 45.0
# What is due so soon belongs to the scene; a later retry falls due when the clock jumps.
_SOON_MS = 3_000


class Scene(Struct, frozen=True):
    """One scene as it went."""

    name: str
    seconds: float
    drained: bool  # nothing was left when it ended


class Played(Struct, frozen=True):
    """What only the driver knows of the day; everything else is asked of the system."""

    written: int  # events
    commands: int  # about people
    acknowledged: dict[str, int]  # notification id of a password -> wall ms at which Kafka confirmed it
    scenes: tuple[Scene, ...]
    samples: tuple[Sample, ...]  # of the outage
    outage: tuple[float, float]  # on the samples' scale
    tally: Tally


class Day:
    """One day on a running pipeline; `play` it once."""

    def __init__(
        self, pipeline: EmbeddedPipeline, world: World, timetable: Timetable, console: Console
    ) -> None:
        self._pipeline = pipeline
        self._world = world
        self._timetable = timetable
        addresses = pipeline.addresses
        self._watch = Watch(addresses.kafka, timetable.morning_ms)
        self._producers = Producers(addresses.kafka)
        self._pacing = PacingLog(addresses.redis)
        self._draining = Draining(addresses.kafka, self._watch, self._now_ms)
        self._live = LiveStatus(console, self._status)
        self._offset_ms = 0
        self._scene = ""
        self._scenes: list[Scene] = []
        self._outage = (0.0, 0.0)

    async def play(self) -> Played:
        """Play all scenes; returns when the last one has settled."""
        world, timetable = self._world, self._timetable
        with self._watch, self._producers as producers:
            async with self._pacing, self._live, self._pipeline.simulator() as simulator:
                async with self._as_scene(
                    "morning", f"{len(world.people):,} people, {len(world.morning):,} events"
                ):
                    self._offset_ms = await jump(self._pipeline, timetable.morning_ms)
                    commands = await producers.introduce(world.people, timetable.morning_ms)
                    await producers.play(world.morning)
                async with self._as_scene(
                    "campaign", f"{len(world.campaign):,} offers at once, with logins in between"
                ):
                    await asyncio.gather(
                        producers.play(world.campaign), producers.play(world.passwords, logins=True)
                    )
                first = len(self._pacing.samples)
                async with self._as_scene(
                    "outage", f"{PROVIDER} fails for {_OUTAGE_S} s and comes back weaker"
                ):
                    await asyncio.gather(producers.play(world.outage), self._break(simulator))
                samples = tuple(self._pacing.samples[first:])
                async with self._as_scene("night", "half past eleven in Dhaka: one more offer to everybody"):
                    self._offset_ms = await jump(self._pipeline, timetable.night_ms)
                    await asyncio.gather(
                        producers.play(world.sleepers), producers.play(world.late_passwords, logins=True)
                    )
                async with self._as_scene("next morning", "five past eight: what was held goes out"):
                    self._offset_ms = await jump(self._pipeline, timetable.next_morning_ms)
        return Played(
            producers.written,
            commands,
            dict(producers.acknowledged),
            tuple(self._scenes),
            samples,
            self._outage,
            self._watch.ask(lambda tally: tally),
        )

    @asynccontextmanager
    async def _as_scene(self, name: str, about: str) -> AsyncIterator[None]:
        """Name what happens now, and end it when everything has settled."""
        self._scene = name
        self._live.say(f"{name}: {about}")
        begun = time.monotonic()
        yield
        drained = await self._draining.wait(_PATIENCE_S, _SOON_MS)
        self._scenes.append(Scene(name, round(time.monotonic() - begun, 1), drained))

    async def _break(self, simulator: SimulatorClient) -> None:
        """Take the provider away for some seconds; then let it take only a part for a while."""
        await asyncio.sleep(_BEFORE_OUTAGE_S)
        await simulator.set_scene(DOWN)
        begun = self._pacing.now_s()
        await asyncio.sleep(_OUTAGE_S)
        await simulator.set_scene(NARROW)
        self._outage = (begun, self._pacing.now_s())
        await self._pacing.until(lambda: self._breaker() == "closed", _PATIENCE_S)
        await asyncio.sleep(_NARROW_S)
        await simulator.set_scene("")

    def _breaker(self) -> str:
        status = self._pacing.latest.get(PROVIDER)
        return "closed" if status is None else status.breaker

    def _now_ms(self) -> int:
        return WallClock().now_ms() + self._offset_ms

    def _status(self) -> str:
        status = self._pacing.latest.get(PROVIDER)
        pace = "" if status is None else f" · {PROVIDER} {status.rate:,.0f}/s, breaker {status.breaker}"
        return f"{self._scene} · written {self._producers.written:,} · {self._watch.ask(_counts)}{pace}"


def _counts(tally: Tally) -> str:
    sent, waiting = tally.count(Status.SENT), tally.count(Status.DEFERRED)
    under_way = tally.count(Status.QUEUED, Status.SENDING)
    return f"accepted {tally.accepted:,} · sent {sent:,} · under way {under_way:,} · waiting {waiting:,}"
