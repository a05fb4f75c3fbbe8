"""Offsets that are no longer in the log: the worker stops and says how to go on."""

import pytest

from tests.connectors.kafka.conftest import NewBench
from tests.connectors.kafka.harness import Bench

pytestmark = [pytest.mark.integration, pytest.mark.chaos]


def test_a_committed_offset_below_the_logs_start(new_bench: NewBench) -> None:
    """Records expired while nobody read: exit 71, with the offset to go on from."""
    bench: Bench = new_bench(partitions=1)
    source = bench.reads[0].topic.full_name
    bench.write(source, *((b"u", b"") for _ in range(10)))
    worker = bench.start("state").wait_ready()
    bench.wait_drained()
    assert worker.stop() == 0
    bench.write(source, *((b"u", b"") for _ in range(10)))
    bench.trim(source, 0, 15)
    again = bench.start("state")
    assert again.wait_exit() == 71
    assert "offset 10 is below the log's start 15: records expired unread" in again.said
    assert "reset its offset to 15" in again.said


def test_a_committed_offset_beyond_the_logs_end(new_bench: NewBench) -> None:
    """The log was cut, or somebody mistook: exit 71 at once, not when its next record comes."""
    bench: Bench = new_bench(partitions=1)
    source = bench.reads[0].topic.full_name
    bench.write(source, *((b"u", b"") for _ in range(10)))
    worker = bench.start("state").wait_ready()
    bench.wait_drained()
    assert worker.stop() == 0
    bench.move_group(source, 0, 50)
    again = bench.start("state")
    assert again.wait_exit() == 71
    assert "committed offset 50 is beyond the log's end 10" in again.said


def test_records_that_expire_in_front_of_a_slow_reader(new_bench: NewBench) -> None:
    """The same while it reads: a gap is legal on a public topic, but not below the log's start."""
    bench: Bench = new_bench(partitions=1, record_us=1_000)
    source = bench.reads[0].topic.full_name
    bench.load(6_000, topic=source, size=3_000)
    worker = bench.start().wait_ready()
    bench.trim(source, 0, 5_900)
    assert worker.wait_exit() == 71
    assert "is below the log's start 5900: records expired unread" in worker.said
    assert bench.committed()[source, 0] < 5_900


def test_a_group_that_starts_late_on_a_trimmed_log(new_bench: NewBench) -> None:
    """Without commits the log's start is where everything begins, and it is committed."""
    bench: Bench = new_bench(partitions=1)
    source = bench.reads[0].topic.full_name
    bench.write(source, *((b"u", b"") for _ in range(10)))
    bench.trim(source, 0, 10)
    bench.start().wait_ready()
    bench.wait_drained()
    bench.write(source, (b"u", b""))
    bench.wait_drained()
    assert [proof.count for proof in bench.verify().decided] == [1]
