from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from connectors.simulator.client import SimulatorClient
from connectors.simulator.script import Script
from tests.connectors.simulator.running import Running, running


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One simulator process for all tests of providers."""
    folder: Path = tmp_path_factory.mktemp("simulator")
    with running(folder) as simulator:
        yield simulator


@pytest.fixture
async def simulator(lab: Running) -> AsyncIterator[SimulatorClient]:
    """The simulator without faults and with an empty ledger."""
    async with lab.client() as client:
        await client.follow(Script())
        await client.reset()
        yield client
