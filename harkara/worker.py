"""Runs a role: waits for Kafka, starts its apps together, ends on a signal or on the first failure."""

import asyncio
import gc
import random
import signal
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import structlog
import uvloop

from connectors.kafka.admin import reachable
from connectors.kafka.app import BlockApp
from connectors.kafka.exits import leave, leave_for, leave_on_error
from connectors.kafka.feed import Feed
from connectors.kafka.selftest import selftest
from connectors.once import Once
from connectors.telemetry import StatusServer, Telemetry
from streams.errors import HarkaraError

log = structlog.get_logger(__name__)

_DRAIN_S = 20.0
_WATCH_S = 0.1
_WAVE_S = 30.0  # a group that takes longer to settle does not hold the next one up


@dataclass(frozen=True)
class Role:
    """One process: its apps, what it follows, and what it must start and stop beside them."""

    name: str
    apps: Sequence[BlockApp]
    telemetry: Telemetry
    feeds: Sequence[Feed] = ()
    facts: Callable[[], dict[str, Any]] = dict
    starting: Sequence[Callable[[], Awaitable[None]]] = field(default=())
    stopping: Sequence[Callable[[], Awaitable[None]]] = field(default=())


def wait_for_kafka(bootstrap: str, dice: random.Random | None = None) -> None:
    """Return once a broker answers; waits with growing, jittered pauses and says so once."""
    once, pause_s = Once(log), 0.5
    dice = dice or random.Random()  # noqa: S311 - spreads pauses, guards nothing
    while (why := reachable(bootstrap)) is not None:
        once.warn("kafka", "Kafka does not answer, waiting for it", error=why)
        time.sleep(pause_s * dice.uniform(0.5, 1.0))
        pause_s = min(pause_s * 2, 10.0)
    once.over("kafka", "Kafka answers")


def run(bootstrap: str, build: Callable[[], Role], status_port: int) -> None:
    """Run a role until SIGTERM or SIGINT, then drain it; any failure ends the process at once.

    `build` is called when Kafka answers, on the loop that will run the role.
    """
    selftest()
    wait_for_kafka(bootstrap)
    uvloop.run(_run(build, status_port))


async def _run(build: Callable[[], Role], status_port: int) -> None:
    loop = asyncio.get_running_loop()
    ending = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ending.set)
    role = build()
    # What is alive now stays: Faust collects garbage at every rebalance, and must not walk over it.
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 50, 50)
    for feed in role.feeds:
        await asyncio.to_thread(feed.read_to_end)
        feed.follow(loop)
    server = StatusServer(role.telemetry, lambda: _state(role))
    port = await server.start(status_port)
    for start in role.starting:
        await start()
    log.info("starting", role=role.name, port=port)
    for session_ms in sorted({app.settings.session_ms for app in role.apps}, reverse=True):
        await _start(role, [app for app in role.apps if app.settings.session_ms == session_ms], ending)
    once = Once(log)
    while not ending.is_set():
        _check(role)
        _tell(role, once)
        try:
            await asyncio.wait_for(ending.wait(), _WATCH_S)
        except TimeoutError:
            continue
    await _stop(role, server)


async def _start(role: Role, apps: list[BlockApp], ending: asyncio.Event) -> None:
    """Start some apps together and wait until they read.

    Opening a store keeps every thread of the process waiting, the heartbeats' too: whoever must
    answer its group soonest comes last, when the others' stores are open.
    """
    loop = asyncio.get_running_loop()
    starting = [loop.create_task(app.faust.start(), name=app.settings.id) for app in apps]
    for task in starting:
        task.add_done_callback(leave_on_error)
    await asyncio.wait(starting)
    deadline = time.monotonic() + _WAVE_S
    while not ending.is_set() and time.monotonic() < deadline and not all(app.ready for app in apps):
        _check(role)
        await asyncio.sleep(_WATCH_S)


def _state(role: Role) -> tuple[bool, dict[str, Any]]:
    ready = all(app.ready for app in role.apps)
    apps = {
        app.settings.id: {
            "ready": app.ready,
            "partitions": sorted(app.transport.owned()),
            "heartbeat_age_s": round(app.fence.age_s, 1),
        }
        for app in role.apps
    }
    return ready, {"role": role.name, "ready": ready, "apps": apps, **role.facts()}


def _check(role: Role) -> None:
    for app in role.apps:
        if app.faust.should_stop:
            if (reason := app.faust.crash_reason) is not None:
                leave_for(reason, app.settings.id)
            leave(HarkaraError(f"{app.settings.id} stopped by itself"))


def _tell(role: Role, once: Once) -> None:
    """Say once that Kafka is silent; who has something to write leaves by its fence."""
    if any(app.fence.age_s > app.fence.limit_s for app in role.apps):
        once.warn("kafka", "no heartbeat is answered: Kafka is away, or this process stood still")
    else:
        once.over("kafka", "heartbeats are answered again")


async def _stop(role: Role, server: StatusServer) -> None:
    try:
        async with asyncio.timeout(_DRAIN_S):
            await asyncio.gather(*(app.faust.stop() for app in role.apps))
            for stop in role.stopping:
                await stop()
    except TimeoutError:
        leave(HarkaraError(f"{role.name} did not drain within {_DRAIN_S:.0f} s"))
    for feed in role.feeds:
        feed.stop()
    await server.stop()
