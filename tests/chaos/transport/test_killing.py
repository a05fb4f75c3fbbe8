"""Power cuts in the flow: nothing is lost and nothing is counted twice (LOS-05, DUP-01)."""

import pytest

from tests.connectors.kafka.conftest import NewBench
from tests.connectors.kafka.harness import Bench
from tests.connectors.kafka.worker_process import Worker, until

pytestmark = [pytest.mark.integration, pytest.mark.chaos]


def _wait_among_blocks(worker: Worker) -> None:
    until("it is among its blocks", lambda: worker.facts().get("blocks", 0) > 3)


def test_kill_9_twice_in_the_flow(new_bench: NewBench) -> None:
    """A worker killed among its blocks repeats recorded decisions, and never counts again."""
    bench: Bench = new_bench(record_us=50)
    bench.load(12_000)
    for _ in range(2):
        worker = bench.start("state", instance=f"{bench.name}-1")
        _wait_among_blocks(worker)
        worker.kill()
    last = bench.start("state", instance=f"{bench.name}-1")
    bench.load(1_000)
    bench.wait_drained()
    assert last.stop() == 0
    verdict = bench.verify()
    assert verdict.records == 13_000
    assert (verdict.missing, verdict.wrong, verdict.state_wrong, verdict.back_in_time) == (0, 0, 0, 0)
    # A second time at most what was in flight at a kill: four blocks a partition.
    assert verdict.repeats <= 2 * 4 * 4 * 500


def test_a_worker_without_its_disk_goes_on_from_the_changelog(new_bench: NewBench) -> None:
    """Killed, and started where no local store is: the changelog alone is enough."""
    bench: Bench = new_bench(record_us=50)
    bench.load(6_000)
    worker = bench.start(instance=f"{bench.name}-1")
    _wait_among_blocks(worker)
    worker.kill()
    other = bench.start(instance=f"{bench.name}-1")
    bench.wait_drained()
    assert other.facts()["restored"] > 0
    assert other.stop() == 0
    verdict = bench.verify()
    assert (verdict.missing, verdict.wrong, verdict.state_wrong, verdict.back_in_time) == (0, 0, 0, 0)
