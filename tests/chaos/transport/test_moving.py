"""Partitions that move: no decision is taken by two owners, none on somebody's old memory."""

from itertools import chain
from signal import SIGCONT, SIGSTOP

import pytest

from tests.connectors.kafka.conftest import NewBench
from tests.connectors.kafka.harness import Bench
from tests.connectors.kafka.worker_process import Worker, until

pytestmark = [pytest.mark.integration, pytest.mark.chaos]


def _share(*workers: Worker) -> None:
    """Wait until each reads partitions and all are read."""

    def shared() -> bool:
        owned = [worker.partitions for worker in workers]
        return all(owned) and sorted(chain.from_iterable(owned)) == [0, 1, 2, 3]

    until("the partitions are shared", shared)


def _decides(worker: Worker) -> None:
    """Wait until a worker decides something new."""
    before = worker.facts()["blocks"]
    until("it decides", lambda: worker.facts()["blocks"] > before)


def test_clean_join_and_leave_with_partitions_moving_away_and_back(new_bench: NewBench) -> None:
    """Nothing is wrong, nothing is repeated: work ends and is committed before a partition goes (DUP-01)."""
    bench: Bench = new_bench()
    first = bench.start().wait_ready()
    with bench.loading():
        for _ in range(2):
            second = bench.start("second")
            _share(first, second)
            _decides(first)
            _decides(second)
            assert second.stop() == 0
            _share(first)
            _decides(first)
    bench.wait_drained()
    assert first.stop() == 0
    verdict = bench.verify()
    assert verdict.records == verdict.outputs > 0
    assert (verdict.missing, verdict.wrong, verdict.repeats) == (0, 0, 0)
    assert (verdict.state_wrong, verdict.back_in_time, verdict.overtaken) == (0, 0, 0)


def test_sigstop_past_the_session_then_sigcont(new_bench: NewBench) -> None:
    """A worker paused in the midst of deciding leaves before it writes (REB-05).

    By its fence, or because a record that was on its way at the pause is not confirmed any more.
    """
    bench: Bench = new_bench(record_us=2_000, block_records=100)
    paused, other = bench.start().wait_ready(), bench.start()
    with bench.loading(pause_s=0.2):
        _share(paused, other)
        _decides(paused)
        paused.signal(SIGSTOP)
        until("the other has taken over", lambda: other.partitions == [0, 1, 2, 3])
        _decides(other)
        paused.signal(SIGCONT)
        assert paused.wait_exit() in (70, 72)
        _decides(other)
    bench.wait_drained()
    assert other.stop() == 0
    verdict = bench.verify()
    assert (verdict.missing, verdict.wrong) == (0, 0)
    assert (verdict.state_wrong, verdict.back_in_time) == (0, 0)


def test_a_surplus_worker_is_ready_and_takes_over(new_bench: NewBench) -> None:
    """With more workers than partitions one has nothing to do, until it has."""
    bench: Bench = new_bench(partitions=1, session_ms=3_000, message_timeout_ms=1_000)
    bench.load(500)
    first = bench.start().wait_ready()
    bench.wait_drained()
    spare = bench.start().wait_ready()
    until("one of them is spare", lambda: sorted([first.partitions, spare.partitions]) == [[], [0]])
    owner = first if first.partitions else spare
    heir = spare if owner is first else first
    owner.kill()
    bench.load(500)
    until("the heir reads", lambda: heir.partitions == [0])
    bench.wait_drained()
    assert heir.stop() == 0
    verdict = bench.verify()
    assert (verdict.missing, verdict.wrong, verdict.state_wrong, verdict.back_in_time) == (0, 0, 0, 0)
