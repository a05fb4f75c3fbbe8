"""The long forms: many accidents in a row, each run from its seed."""

import random
import time
from pathlib import Path
from signal import SIGCONT, SIGSTOP

import pytest

from tests.connectors.kafka.conftest import NewBench
from tests.connectors.kafka.harness import Bench
from tests.connectors.kafka.worker_process import until

pytestmark = [pytest.mark.integration, pytest.mark.chaos, pytest.mark.soak, pytest.mark.timeout(600)]


@pytest.mark.parametrize("seed", range(6))
def test_accidents_in_a_row(new_bench: NewBench, seed: int) -> None:
    """Kills, clean ends, pauses beyond the session and joins, in the flow: nothing wrong, nothing lost."""
    dice = random.Random(seed)
    bench: Bench = new_bench(session_ms=3_000, message_timeout_ms=1_200, record_us=50)
    static = seed % 2 == 0

    def start(folder: str) -> None:
        bench.start(folder, instance=f"{bench.name}-{folder}" if static else None)

    for folder in ("a", "b", "c"):
        start(folder)
    with bench.loading():
        for _ in range(10):
            worker = dice.choice([w for w in bench.workers if w.process.poll() is None])
            accident = dice.choice(["kill", "stop", "pause"])
            if accident == "kill":
                worker.kill()
            elif accident == "stop":
                worker.ending = True
                assert worker.stop() in (0, 70, 72, -15)
            else:
                worker.signal(SIGSTOP)
                time.sleep(dice.uniform(0.5, 5.0))
                worker.signal(SIGCONT)
            time.sleep(dice.uniform(0.0, 2.0))
            if accident != "pause":
                start(Path(worker.settings.folder).name)
            bench.restarted()
            time.sleep(dice.uniform(0.5, 4.0))
    until("all is committed", lambda: bench.restarted() and bench.drained(), 120)
    verdict = bench.verify()
    assert verdict.records > 1_000
    assert (verdict.missing, verdict.wrong, verdict.state_wrong, verdict.back_in_time) == (0, 0, 0, 0)


def test_workers_that_come_and_go_together(new_bench: NewBench) -> None:
    """Rebalances on the heels of each other: no decision before the tables are restored, no repeats."""
    bench: Bench = new_bench()
    keeper = bench.start().wait_ready()
    with bench.loading():
        for turn in range(6):
            guests = [bench.start(f"guest-{k}") for k in range(2)]
            until("everybody reads", lambda guests=guests: all(g.partitions for g in [keeper, *guests]))  # type: ignore[misc]  # bound early
            for guest in guests if turn % 2 else reversed(guests):
                assert guest.stop() == 0
    bench.wait_drained()
    assert keeper.stop() == 0
    verdict = bench.verify()
    assert (verdict.missing, verdict.wrong, verdict.repeats) == (0, 0, 0)
    assert (verdict.state_wrong, verdict.back_in_time, verdict.overtaken) == (0, 0, 0)


def test_commits_advance_over_twenty_starts(new_bench: NewBench) -> None:
    """With a backlog and a changelog to restore no start freezes a commit or repeats what was committed."""
    bench: Bench = new_bench()
    for turn in range(20):
        bench.load(2_000)
        worker = bench.start("state" if turn % 2 else None)
        bench.load(500)
        bench.wait_drained()
        assert worker.stop() == 0
    verdict = bench.verify()
    assert (verdict.records, verdict.outputs) == (50_000, 50_000)
    assert (verdict.missing, verdict.wrong, verdict.state_wrong, verdict.back_in_time) == (0, 0, 0, 0)
