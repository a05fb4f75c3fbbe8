"""What must be known first is read first, whatever stands at the ends of the logs."""

from collections.abc import Callable

import pytest

from tests.connectors.kafka.conftest import NewBench
from tests.connectors.kafka.counting_app import Reads
from tests.connectors.kafka.harness import Bench

pytestmark = [pytest.mark.integration, pytest.mark.chaos]


def _gated(bench_name: str) -> list[Reads]:
    return [
        Reads(901, f"{bench_name}-flags", rank=0),
        Reads(902, f"{bench_name}-in", rank=1, gate=f"{bench_name}-flags"),
    ]


def test_forty_thousand_flags_and_ten_thousand_records_waiting_after_downtime(
    new_bench: NewBench, prefix: str
) -> None:
    """None of the records is decided before the flags that were written before it."""
    bench: Bench = new_bench(reads=_gated(prefix))
    flags, source = (reads.topic.full_name for reads in bench.reads)
    bench.write(flags, *((b"u%d" % i, b"") for i in range(40_000)))
    bench.write(source, *((b"u%d" % i, b"x" * 300) for i in range(0, 40_000, 4)))
    bench.start()
    bench.wait_drained()
    verdict = bench.verify()
    assert (verdict.outputs, verdict.missing, verdict.wrong) == (10_000, 0, 0)
    assert sum(not proof.flagged for proof in verdict.decided) == 0


def test_a_flag_written_right_before_its_record_counts(new_bench: NewBench, prefix: str) -> None:
    """While the worker runs: the gate's end is asked for after the record was fetched."""
    bench: Bench = new_bench(reads=_gated(prefix))
    flags, source = (reads.topic.full_name for reads in bench.reads)
    bench.start().wait_ready()
    for i in range(0, 2_000, 20):
        users = [b"u%d" % (i + k) for k in range(20)]
        bench.write(flags, *((user, b"") for user in users))
        bench.write(source, *((user, b"") for user in users))
    bench.wait_drained()
    verdict = bench.verify()
    assert (verdict.outputs, verdict.missing) == (2_000, 0)
    assert sum(not proof.flagged for proof in verdict.decided) == 0


def _transaction(bench: Bench, number: int, topic: str, users: list[bytes]) -> Callable[[bool], None]:
    producer = bench.producer(**{"transactional.id": f"{bench.name}-{number}"})
    producer.init_transactions()
    producer.begin_transaction()
    for user in users:
        producer.produce(topic, b"", user)
    producer.flush()

    def end(commit: bool) -> None:
        producer.commit_transaction() if commit else producer.abort_transaction()

    return end


def test_transactions_on_the_gate_and_on_the_source(new_bench: NewBench, prefix: str) -> None:
    """Aborted records do not count, open ones hold nobody, and markers at the ends stop nothing."""
    bench: Bench = new_bench(reads=_gated(prefix))
    flags, source = (reads.topic.full_name for reads in bench.reads)
    users = [b"u%d" % i for i in range(40)]
    _transaction(bench, 1, flags, users)(True)
    _transaction(bench, 2, flags, [b"aborted"])(False)
    _transaction(bench, 3, source, users)(False)
    _transaction(bench, 4, source, [*users, b"aborted"])(True)
    open_gate = _transaction(bench, 5, flags, [b"late"])
    bench.start()
    bench.wait_drained()  # the markers at the ends too, or they would expire unread one day
    open_gate(True)
    _transaction(bench, 6, source, [b"late", *users])(True)
    bench.wait_drained()
    verdict = bench.verify()
    assert (verdict.records, verdict.missing, verdict.wrong, verdict.repeats) == (82, 0, 0, 0)
    assert sum(not proof.flagged for proof in verdict.decided) == 1  # of the user whose flag was aborted


def test_a_gap_is_fatal_where_only_we_write(new_bench: NewBench, prefix: str) -> None:
    """On a topic that is ours, without transactions, a missing offset is a lost record."""
    bench: Bench = new_bench(reads=[Reads(901, f"{prefix}-in", gapless=True)], partitions=1)
    source = bench.reads[0].topic.full_name
    bench.write(source, (b"u", b""))
    worker = bench.start().wait_ready()
    bench.wait_drained()
    _transaction(bench, 1, source, [b"u"])(False)
    assert worker.wait_exit() == 71
    assert "offsets 1..2 are missing" in worker.said
    assert bench.committed()[source, 0] == 1
