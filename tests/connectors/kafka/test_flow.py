"""The transport in the flow, with nothing wrong."""

import pytest

from tests.connectors.kafka.conftest import NewBench

pytestmark = pytest.mark.integration


def test_every_record_is_counted_once_and_committed(new_bench: NewBench) -> None:
    """What is there before the start and what comes later is counted in order, once, and committed."""
    bench = new_bench()
    bench.load(20_000)
    worker = bench.start().wait_ready()
    bench.load(2_000)
    bench.wait_drained()
    assert worker.stop() == 0
    verdict = bench.verify()
    assert (verdict.records, verdict.outputs) == (22_000, 22_000)
    assert (verdict.missing, verdict.wrong, verdict.state_wrong, verdict.back_in_time) == (0, 0, 0, 0)
