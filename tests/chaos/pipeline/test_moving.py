"""Partitions move: members join and leave, and suspended ones come back too late."""

import time

import pytest

from harkara.chaos.drain import drain
from harkara.chaos.faults import PAUSE_S, join, leave, owned, owns_all, until
from harkara.chaos.flow import Flow
from harkara.chaos.load import load
from harkara.chaos.verdict import judge
from harkara.embedded.pipeline import EmbeddedPipeline
from harkara.wall_clock import WallClock
from tests.chaos.pipeline.conftest import Survive

pytestmark = [pytest.mark.integration, pytest.mark.chaos, pytest.mark.timeout(300)]


def test_a_second_router_joins_and_leaves(survive: Survive) -> None:
    """Partitions move away and back in the flow, and no decision is wrong for it."""
    survive("router_joined")


def test_a_second_sender_joins_and_leaves(survive: Survive) -> None:
    """Calls in flight end before their partition moves; nobody else makes them again."""
    survive("sender_joined")


def test_a_router_suspended_past_its_session(survive: Survive) -> None:
    """It has lost its partitions: it ends, or joins anew, before it writes."""
    survive("router_paused")


def test_a_sender_that_wakes_up_too_late_calls_nobody(pipeline: EmbeddedPipeline) -> None:
    """What it held when it was suspended is sent by who owns it now; it ends by its fence, or joins anew."""
    kafka = pipeline.addresses.kafka
    join(pipeline, "sender")
    until("both own partitions", lambda: any(owned(pipeline, "sender").values()))
    with Flow(kafka, load(3, "late", 40, WallClock().now_ms()), 100) as flow:
        flow.pass_steps(200)
        pipeline.pause("sender")
        flow.pass_steps(100)
    time.sleep(PAUSE_S)
    until("the other owns everything", lambda: owns_all(pipeline, "sender-b"))
    calls = len(drain(pipeline, 90).ledger)
    pipeline.unpause("sender")
    time.sleep(1)
    until("it is back", lambda: any(owned(pipeline, "sender").values()))
    leave(pipeline, "sender")
    evidence = drain(pipeline, 90)
    assert len(evidence.ledger) == calls
    assert judge(evidence, pipeline.partitions).broken == {}
