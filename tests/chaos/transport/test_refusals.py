"""Records that cannot be written, and queues that are full."""

import pytest

from tests.connectors.kafka.conftest import NewBench
from tests.connectors.kafka.counting_app import OVERSIZE
from tests.connectors.kafka.harness import Bench

pytestmark = [pytest.mark.integration, pytest.mark.chaos]


def test_one_record_refused_inside_a_batch(new_bench: NewBench) -> None:
    """The worker leaves with 72 and acknowledges nothing of the block, however much of it got out."""
    bench: Bench = new_bench(partitions=1)
    source = bench.reads[0].topic.full_name
    bench.write(source, *((b"u%d" % i, b"") for i in range(100)))
    worker = bench.start("state").wait_ready()
    bench.wait_drained()
    bench.write(source, *((b"v%d" % i, b"") for i in range(10)), (OVERSIZE, b""), (b"w", b""))
    assert worker.wait_exit() == 72
    assert "refused" in worker.said
    assert bench.committed()[source, 0] == 100
    again = bench.start("state")
    assert again.wait_exit() == 72  # until the release is mended; nothing is passed over meanwhile
    assert bench.committed()[source, 0] == 100


def test_a_full_queue_waits_and_goes_on_in_order(new_bench: NewBench) -> None:
    """With room for less than one block at a time everything still gets out, once and in order."""
    bench: Bench = new_bench(queue_records=300)
    bench.load(20_000)
    worker = bench.start()
    bench.wait_drained()
    assert worker.stop() == 0
    verdict = bench.verify()
    assert (verdict.records, verdict.outputs, verdict.overtaken) == (20_000, 20_000, 0)
    assert (verdict.missing, verdict.wrong, verdict.state_wrong, verdict.back_in_time) == (0, 0, 0, 0)
