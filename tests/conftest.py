"""What every test of the project runs under, and the servers that integration tests share."""

import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from connectors.embedded.addresses import Addresses
from connectors.embedded.progress import reporter_on
from connectors.embedded.stack import Stack
from harkara.settings import Settings

# No deadline: a slow machine is not a wrong answer.
settings.register_profile("harkara", deadline=None)
settings.load_profile("harkara")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a developer keep one stack running over many test runs."""
    told = "use the stack that `python -m connectors.embedded FOLDER` keeps running"
    parser.addoption("--stack", type=Path, metavar="FOLDER", help=told)


@pytest.fixture(scope="session")
def cache() -> Path | None:
    """Where downloads are kept: HARKARA_CACHE, else this user's cache folder."""
    return Settings.from_environ().cache


@pytest.fixture(scope="session")
def stack(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, cache: Path | None
) -> Iterator[Addresses]:
    """Kafka, Valkey and ClickHouse, one of each for the whole run; nobody may kill these."""
    if (folder := request.config.getoption("--stack")) is not None:
        running = Addresses.read(folder)
        assert running is not None, f"no stack runs on {folder}"
        yield running
        return
    with Stack(tmp_path_factory.mktemp("stack"), cache=cache, progress=reporter_on(sys.stderr)) as started:
        yield started.addresses


@pytest.fixture
def prefix() -> str:
    """A prefix for this test's own topics, keys and databases on the shared servers: letters and digits."""
    return f"t{uuid.uuid4().hex[:12]}"
