"""The audit is made of a small installation on the servers that all tests share."""

import pytest

from connectors.embedded.addresses import Addresses
from tests.connectors.clickhouse.conftest import Analytics, analytics, clickhouse_url, client, fresh
from tests.harkara.world import World

__all__ = ["analytics", "clickhouse_url", "client", "fresh"]


@pytest.fixture
def world(stack: Addresses, prefix: str, analytics: Analytics) -> World:
    """An installation with nothing in it."""
    return World(stack.kafka, f"{prefix}.", analytics)
