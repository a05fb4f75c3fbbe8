"""Roles are killed in the flow: nothing is lost, nothing is decided or sent twice unknowingly."""

import pytest

from harkara.chaos.attack import IN_FLIGHT
from tests.chaos.pipeline.conftest import Survive

pytestmark = [pytest.mark.integration, pytest.mark.chaos, pytest.mark.timeout(240)]


def test_router_killed_in_the_flow(survive: Survive) -> None:
    """It repeats what it had decided; no cap counts twice, no replay is called a repeat."""
    attacked = survive("router_killed")
    assert attacked.restarts["router"] == 1


def test_sender_killed_in_the_flow(survive: Survive) -> None:
    """No more claims are unfinished than calls may be in flight; each is told as unknown."""
    attacked = survive("sender_killed")
    lanes = 6  # each app has its own limit
    assert attacked.verdict.figures["lost_claims"] <= IN_FLIGHT * lanes


def test_sink_killed_in_the_flow(survive: Survive) -> None:
    """Every fact is in ClickHouse, each once."""
    survive("sink_killed")
