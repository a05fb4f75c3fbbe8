"""A database of its own for each test, on the ClickHouse that all share."""

import itertools
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from clickhouse_connect.driver.client import Client

from connectors.clickhouse.client import INSERTING, connect
from connectors.clickhouse.schema import Schema
from connectors.clickhouse.writer import Writer
from connectors.embedded.addresses import Addresses

NUMBERS = itertools.count(1)
HASH_KEY = b"key of the tests " * 2


@pytest.fixture(scope="session")
def clickhouse_url(stack: Addresses) -> str:
    """The ClickHouse that all tests share."""
    return stack.clickhouse


@pytest.fixture(scope="session")
def client(clickhouse_url: str) -> Iterator[Client]:
    """A client such as the product makes."""
    client = connect(clickhouse_url, INSERTING)
    yield client
    client.close()


@dataclass
class Analytics:
    """A database with the schema applied."""

    client: Client
    name: str
    writer: Writer

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Ask SQL in which `db.` stands for the database."""
        return [tuple(row) for row in self.client.query(sql.replace("db.", f"{self.name}.")).result_rows]

    def refresh(self) -> None:
        """Count the funnel now."""
        self.client.command(f"SYSTEM REFRESH VIEW {self.name}.funnel_hour_rmv")
        self.client.command(f"SYSTEM WAIT VIEW {self.name}.funnel_hour_rmv")


@pytest.fixture(scope="session")
def fresh(client: Client, clickhouse_url: str) -> Callable[[], AbstractContextManager[Analytics]]:
    """Make databases that are dropped when they are left."""

    @contextmanager
    def make() -> Iterator[Analytics]:
        name = f"harkara_{os.getpid()}_{next(NUMBERS)}"
        Schema(client, name).apply()
        writer = Writer(lambda: connect(clickhouse_url, INSERTING), HASH_KEY, name)
        yield Analytics(client, name, writer)
        writer.close()
        client.command(f"DROP DATABASE {name} SYNC")

    return make


@pytest.fixture
def analytics(fresh: Callable[[], AbstractContextManager[Analytics]]) -> Iterator[Analytics]:
    """A database for one test."""
    with fresh() as made:
        yield made
