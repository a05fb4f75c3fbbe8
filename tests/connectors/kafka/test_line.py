"""The order of durability: changelog, then outputs, then the store, then the acknowledgement."""

from collections import deque
from pathlib import Path
from typing import Any, cast

import pytest

from connectors.kafka.block import Headers, Writes
from connectors.kafka.line import Line
from connectors.kafka.producer import BlockProducer, Done
from connectors.kafka.view import OFFSET_KEY, OWNED_KEY, View
from streams.topics import Topic
from tests.connectors.kafka.stores import open_store

OUT = Topic(999, "out", "user", "anything", None, by_user=True)
ELSEWHERE = Topic(998, "elsewhere", "key", "anything", None)


class HandProducer:
    """Takes bursts; the test says when each is delivered."""

    def __init__(self) -> None:
        self.sent: deque[tuple[str, list[dict[str, Any]], int, Done]] = deque()
        self.capacity = 1_000
        self.sizes: list[int] = []

    def room(self, records: int, size: int) -> bool:
        self.sizes.append(size)
        return sum(len(burst) for _, burst, _, _ in self.sent) + records <= self.capacity

    def send(self, topic: str, records: list[dict[str, Any]], size: int, partition: int, done: Done) -> None:
        assert records
        assert size == sum(len(record["key"] or b"") + len(record["value"] or b"") for record in records)
        self.sent.append((topic, records, partition, done))

    def send_headed(
        self,
        topic: str,
        partition: int | None,
        key: bytes | None,
        value: bytes | None,
        headers: Headers,
        done: Done,
    ) -> None:
        record = {"key": key, "value": value, "headers": headers}
        self.sent.append((topic, [record], -1 if partition is None else partition, done))

    @property
    def topics(self) -> list[str]:
        return [topic for topic, _, _, _ in self.sent]

    def deliver(self, topic: str, offset: int = 0) -> None:
        """Deliver the oldest burst that is under way to a topic."""
        found = next(burst for burst in self.sent if burst[0] == topic)
        self.sent.remove(found)
        found[3](offset)


class Table:
    """One line over real stores, and what it acknowledged."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.producer = HandProducer()
        self.stores = {name: open_store(folder / name) for name in ("state", "more")}
        self.views = {name: View(store, b"s|") for name, store in self.stores.items()}
        self.settled: list[str] = []
        self.lost = False
        self.line = Line(
            3,
            cast(BlockProducer, self.producer),
            lambda table, partition: self.views[table],
            lambda table: f"{table}-changelog",
            lambda: 77,
            self._check,
        )

    def _check(self) -> None:
        if self.lost:
            raise InterruptedError

    def add(self, name: str, key: bytes = b"", out: bool = True, table: str = "state") -> None:
        writes = Writes(3)
        if key:
            writes.put(table, key, name.encode())
        if out:
            writes.emit(OUT, b"user", name.encode())
        self.line.add(writes, lambda: self.settled.append(name))


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """A line of partition 3."""
    return Table(tmp_path)


def test_outputs_wait_for_the_changelog(table: Table) -> None:
    """Nothing leaves before the state that explains it is durable, nothing is stored before both are."""
    table.add("one", b"a")
    assert table.producer.topics == ["state-changelog"]
    assert table.views["state"].get(b"a") == b"one"
    table.producer.deliver("state-changelog", 41)
    assert table.producer.topics == ["harkara.out"]
    assert table.stores["state"].get(b"a") is None
    assert table.settled == []
    table.producer.deliver("harkara.out")
    assert table.stores["state"].get(b"a") == b"one"
    assert table.stores["state"].get(OFFSET_KEY) == b"41"
    assert table.stores["state"].get(OWNED_KEY) == b"77"
    assert table.settled == ["one"]
    assert table.line.empty


def test_the_next_changelog_goes_while_the_first_is_in_flight(table: Table) -> None:
    """Blocks are pipelined, but outputs never overtake those of the block before."""
    table.add("one", b"a")
    table.add("two", b"b")
    assert table.producer.topics == ["state-changelog", "state-changelog"]
    first, second = list(table.producer.sent)
    table.producer.sent.clear()
    second[3](2)  # delivered out of turn: the outputs of the second still wait
    assert table.producer.topics == []
    first[3](1)
    assert [records[0]["value"] for _, records, _, _ in table.producer.sent] == [b"one", b"two"]


def test_stores_are_written_in_order(table: Table) -> None:
    """Block two is not stored or acknowledged before block one, whatever is delivered first."""
    table.add("one", b"a")
    table.add("two", b"a")
    table.producer.deliver("state-changelog", 1)
    table.producer.deliver("state-changelog", 2)
    first, second = list(table.producer.sent)
    table.producer.sent.clear()
    second[3](0)
    assert table.settled == []
    assert table.stores["state"].get(b"a") is None
    first[3](0)
    assert table.settled == ["one", "two"]
    assert table.stores["state"].get(b"a") == b"two"
    assert table.stores["state"].get(OFFSET_KEY) == b"2"


def test_all_tables_of_a_block_come_before_its_outputs(table: Table) -> None:
    """Two changelogs, in any order, then the outputs; each store has its own offset."""
    writes = Writes(3)
    writes.put("state", b"a", b"1")
    writes.put("more", b"b", b"2")
    writes.emit(OUT, b"user", b"x")
    table.line.add(writes, lambda: table.settled.append("both"))
    table.producer.deliver("more-changelog", 7)
    assert "harkara.out" not in table.producer.topics
    table.producer.deliver("state-changelog", 5)
    table.producer.deliver("harkara.out")
    assert table.settled == ["both"]
    assert (table.stores["state"].get(OFFSET_KEY), table.stores["more"].get(OFFSET_KEY)) == (b"5", b"7")


def test_writes_without_changes_keep_their_turn(table: Table) -> None:
    """A block that only emits waits for the outputs before it, and needs no changelog."""
    table.add("one", b"a")
    table.add("two")
    assert table.producer.topics == ["state-changelog"]
    table.producer.deliver("state-changelog")
    assert table.producer.topics == ["harkara.out", "harkara.out"]


def test_empty_writes_are_settled_in_their_turn(table: Table) -> None:
    """A block that changes and emits nothing is acknowledged after the one before it."""
    table.add("one", b"a", out=False)
    table.line.add(Writes(3), lambda: table.settled.append("nothing"))
    assert table.settled == []
    table.producer.deliver("state-changelog")
    assert table.settled == ["one", "nothing"]


def test_a_table_without_rows_and_a_topic_without_records_are_nothing(table: Table) -> None:
    """Taking over another value's emptiness must not wait for a delivery that never comes."""
    writes = Writes(3)
    writes.changes["state"] = {}
    writes.outputs["harkara.out"] = []
    table.line.add(writes, lambda: table.settled.append("nothing"))
    assert table.settled == ["nothing"]
    assert table.stores["state"].get(OFFSET_KEY) is None


def test_without_room_a_block_waits_and_later_ones_behind_it(table: Table) -> None:
    """A burst that does not fit is not sent in part, and nobody overtakes it."""
    table.producer.capacity = 2
    table.add("one", b"a", out=False)
    table.add("two", b"b", out=False)
    table.add("three", b"c", out=False)
    table.add("four", b"d", out=False)
    assert table.line.waiting
    assert len(table.producer.sent) == 2
    table.producer.deliver("state-changelog")
    table.line.pump()
    assert [records[0]["value"] for _, records, _, _ in table.producer.sent] == [b"two", b"three"]
    table.producer.deliver("state-changelog")
    table.line.pump()
    assert not table.line.waiting


def test_outputs_wait_for_room_too(table: Table) -> None:
    """Outputs that do not fit are sent later, whole, and hold the acknowledgement meanwhile."""
    table.producer.capacity = 1
    writes = Writes(3)
    for value in (b"1", b"2"):
        writes.emit(OUT, b"user", value)
    table.line.add(writes, lambda: table.settled.append("one"))
    assert table.producer.topics == []
    assert table.settled == []
    table.producer.capacity = 2
    table.line.pump()
    assert table.producer.topics == ["harkara.out"]
    table.producer.deliver("harkara.out")
    assert table.settled == ["one"]


def test_records_with_headers_count_like_outputs(table: Table) -> None:
    """A forwarded record keeps its bytes and partition, and the block waits for it."""

    class Forwarded:
        topic, partition, offset, timestamp = "in", 3, 9, 0
        key: bytes | None = b"k"
        value: bytes | None = b"v"
        headers: Headers = ()

    writes = Writes(3)
    writes.forward("harkara.in", 1, Forwarded(), [("origin", b"3/9")])
    writes.emit(ELSEWHERE, b"k", b"x")
    table.line.add(writes, lambda: table.settled.append("one"))
    (plain, headed) = table.producer.sent
    assert plain[:3] == ("harkara.elsewhere", [{"key": b"k", "value": b"x"}], -1)
    assert headed[:3] == ("harkara.in", [{"key": b"k", "value": b"v", "headers": [("origin", b"3/9")]}], 1)
    assert table.producer.sizes[-1] == len(b"kx") + len(b"kv")
    table.producer.deliver("harkara.elsewhere")
    assert table.settled == []
    table.producer.deliver("harkara.in")
    assert table.settled == ["one"]


def test_outputs_by_user_keep_the_partition(table: Table) -> None:
    """What is keyed by user stays on the input's partition number; the rest goes by its key."""
    writes = Writes(3)
    writes.emit(OUT, b"user", b"x")
    writes.emit(ELSEWHERE, b"id", b"y")
    table.line.add(writes, lambda: None)
    more = Writes(3)
    more.add(writes)
    table.line.add(more, lambda: None)
    sent = [(topic, partition) for topic, _, partition, _ in table.producer.sent]
    assert sent == [("harkara.out", 3), ("harkara.elsewhere", -1)] * 2


def test_nothing_is_produced_by_a_worker_that_may_have_lost_the_partition(table: Table) -> None:
    """The check comes before each produce, also for what was decided in time (REB-05)."""
    table.add("one", b"a")
    table.producer.capacity = 0
    table.add("two", b"b")
    table.lost = True
    with pytest.raises(InterruptedError):
        table.producer.deliver("state-changelog")
    table.producer.capacity = 10
    with pytest.raises(InterruptedError):
        table.line.pump()
    assert table.producer.topics == []
    assert table.settled == []
