"""Servers go away and come back: roles wait without burning, say it once, and go on by themselves."""

import pytest

from tests.chaos.pipeline.conftest import Survive

pytestmark = [pytest.mark.integration, pytest.mark.chaos, pytest.mark.timeout(300)]

#: Of one core, while a server is away. Much less is usual; a loop that never waits takes all of it.
MOST_BURNT = 0.8


@pytest.mark.parametrize("server", ["valkey", "clickhouse", "simulator", "kafka"])
def test_a_server_goes_away_in_the_flow(survive: Survive, server: str) -> None:
    """Nothing is lost, nothing burns, and nobody has to help."""
    attacked = survive(f"{server}_gone")
    assert [name for name, share in attacked.burnt.items() if share > MOST_BURNT] == []


def test_kafka_is_killed_in_the_flow(survive: Survive) -> None:
    """The broker dies with requests under way and comes back with its logs."""
    survive("kafka_killed")
