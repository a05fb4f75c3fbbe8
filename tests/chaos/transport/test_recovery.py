"""State comes back from the changelog, whatever shape that is in."""

import pytest

from tests.connectors.kafka.conftest import NewBench
from tests.connectors.kafka.counting_app import user_row
from tests.connectors.kafka.harness import Bench
from tests.connectors.kafka.worker_process import until

pytestmark = [pytest.mark.integration, pytest.mark.chaos]


def _row(user: bytes, count: int | None) -> tuple[bytes, bytes | None]:
    return user_row(901, user), None if count is None else b"%d" % count


def _counts(bench: Bench) -> list[int]:
    """What the outputs say, in the order of the records of partition 0."""
    return [proof.count for proof in bench.verify().decided]


def test_a_key_deleted_and_set_again_is_there(new_bench: NewBench) -> None:
    """Deletions keep their place among the changes, and a deleted row is absent (REC-01, REC-02)."""
    bench: Bench = new_bench(partitions=1)
    rows = [_row(b"u1", 5), _row(b"u2", 7), _row(b"u2", None), _row(b"u2", 2)]
    bench.write(bench.changelog, *rows, _row(b"u3", 9), _row(b"u3", None))
    bench.start()
    bench.write(bench.reads[0].topic.full_name, (b"u1", b""), (b"u2", b""), (b"u3", b""))
    bench.wait_drained()
    assert _counts(bench) == [6, 3, 1]


def test_recovery_ends_on_every_shape_of_changelog(new_bench: NewBench) -> None:
    """Full, empty, trimmed to nothing, and ended by a transaction's marker (REC-03)."""
    bench: Bench = new_bench(changelog={"cleanup.policy": "compact,delete"})  # or it cannot be trimmed
    bench.write(bench.changelog, *(_row(b"u%d" % i, 1) for i in range(50)), partition=0)
    bench.write(bench.changelog, *(_row(b"u%d" % i, 1) for i in range(50)), partition=2)
    bench.trim(bench.changelog, 2, 50)
    producer = bench.producer(**{"transactional.id": bench.name})
    producer.init_transactions()
    for user, ends in ((b"kept", producer.commit_transaction), (b"gone", producer.abort_transaction)):
        producer.begin_transaction()
        producer.produce(bench.changelog, b"3", user_row(901, user), 3)
        producer.flush()
        ends()
    worker = bench.start().wait_ready()
    assert worker.facts()["restored"] == 51
    source = bench.reads[0].topic.full_name
    bench.write(source, (b"u1", b""), partition=0)
    bench.write(source, (b"u1", b""), partition=2)
    bench.write(source, (b"kept", b""), (b"gone", b""), partition=3)
    bench.wait_drained()
    proofs = sorted(proof.count for proof in bench.verify().decided)
    assert proofs == [1, 1, 2, 4]


def test_old_local_state_of_a_former_owner_is_not_trusted(new_bench: NewBench) -> None:
    """Rows whose tombstones were compacted away do not come back with an old local store."""
    changelog = {
        "segment.ms": "100",
        "delete.retention.ms": "1",
        "min.cleanable.dirty.ratio": "0.001",
        "min.compaction.lag.ms": "0",
        "max.compaction.lag.ms": "100",
    }
    bench: Bench = new_bench(changelog=changelog, partitions=1, stale_after_ms=1_000)
    users = [(b"u%d" % i, b"") for i in range(50)]
    source = bench.reads[0].topic.full_name
    bench.write(source, *users)
    worker = bench.start("former").wait_ready()
    bench.wait_drained()
    assert worker.stop() == 0
    held = {record.key for record in bench.read(bench.changelog)}
    assert len(held) == 100
    bench.write(bench.changelog, *((key, None) for key in held))  # the next owner deletes them all

    def compacted() -> bool:
        bench.write(bench.changelog, (b"filler", b"0"))  # rolls the segment, so that it may be cleaned
        return not held & {record.key for record in bench.read(bench.changelog)}

    until("the tombstones are compacted away", compacted)
    back = bench.start("former").wait_ready()
    assert "its last ownership is too old" in back.said
    bench.write(source, *users)
    bench.wait_drained()
    assert [proof.count for proof in bench.verify().decided][-50:] == [1] * 50


def test_a_fresh_local_store_saves_the_restore(new_bench: NewBench) -> None:
    """A worker that was away for a moment reads only what it has not got."""
    bench: Bench = new_bench()
    bench.load(2_000)
    worker = bench.start("state").wait_ready()
    bench.wait_drained()
    assert worker.stop() == 0
    again = bench.start("state").wait_ready()
    assert again.facts()["restored"] <= 4  # Faust reads the last record of each partition again
    assert "local store deleted" not in again.said


def test_a_recreated_changelog_under_an_old_local_store(new_bench: NewBench) -> None:
    """A store beyond its changelog's end is discarded, with a warning, before any decision (REC-04)."""
    bench: Bench = new_bench(partitions=1)
    source = bench.reads[0].topic.full_name
    bench.write(source, (b"u", b""), (b"u", b""))
    worker = bench.start("state").wait_ready()
    bench.wait_drained()
    assert worker.stop() == 0
    bench.remake(bench.changelog, **{"cleanup.policy": "compact"})
    again = bench.start("state").wait_ready()
    assert "it stands beyond its changelog" in again.said
    bench.write(source, (b"u", b""))
    bench.wait_drained()
    assert _counts(bench) == [1, 2, 1]
