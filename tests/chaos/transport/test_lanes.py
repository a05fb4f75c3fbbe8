"""A critical record never waits behind a backlog of bulk."""

from statistics import median

import pytest

from tests.connectors.kafka.conftest import NewBench
from tests.connectors.kafka.counting_app import Reads
from tests.connectors.kafka.harness import Bench
from tests.connectors.kafka.worker_process import until

pytestmark = [pytest.mark.integration, pytest.mark.chaos]


def test_fifty_critical_records_in_a_backlog_of_two_hundred_thousand(
    new_bench: NewBench, prefix: str
) -> None:
    """Each is decided within a few blocks of its arrival, while hundreds of bulk blocks wait."""
    lanes = [Reads(901, f"{prefix}-bulk", rank=1), Reads(902, f"{prefix}-critical", rank=0)]
    bench: Bench = new_bench(reads=lanes, record_us=20)
    bulk, critical = (reads.topic.full_name for reads in lanes)
    bench.load(200_000, users=50_000, topic=bulk)
    bench.write(critical, *((b"early%d" % i, b"") for i in range(25)))
    worker = bench.start()
    until("it is among its blocks", lambda: worker.facts().get("blocks", 0) > 20)
    seen: list[int] = []
    for i in range(25):
        seen.append(worker.facts()["blocks"])
        bench.write(critical, (b"late%d" % i, b""))
    bench.wait_drained()
    verdict = bench.verify()
    assert (verdict.records, verdict.missing, verdict.wrong, verdict.repeats) == (200_050, 0, 0, 0)
    decided = sorted(proof.block for proof in verdict.decided if proof.topic == 902)
    assert decided[24] <= 8  # those that were there before the start: among the first of each partition
    assert seen[-1] < 400, "the backlog was over too soon to prove anything"
    waited = [block - before for block, before in zip(decided[25:], seen, strict=True)]
    # Fetching takes a block or three; without lanes a dozen bulk blocks in flight come first.
    assert median(waited) <= 7
    assert max(waited) <= 25
