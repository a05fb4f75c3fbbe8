"""Topics, workers and proof for the tests of the transport, on a real broker."""

import itertools
import random
import sys
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
from confluent_kafka import ConsumerGroupTopicPartitions, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from connectors.embedded.ports import free_ports
from connectors.embedded.spawn import spawn
from connectors.kafka.scan import KafkaSilent, Scan, Stored
from tests.connectors.kafka.counting_app import TABLE, Counted, Counting, Reads, user_row
from tests.connectors.kafka.worker_process import PATIENCE_S, Worker, until

APP = Path(__file__).with_name("counting_app.py")


@dataclass
class Verdict:
    """What the topics prove about a run."""

    records: int = 0
    outputs: int = 0
    missing: int = 0  # records without any output
    wrong: int = 0  # outputs that say another count than the order of the records does
    repeats: int = 0  # outputs beyond one a record
    state_wrong: int = 0  # users whose last changelog row is not their number of records
    back_in_time: int = 0  # changelog rows of a user below an earlier one
    overtaken: int = 0  # outputs behind one of a later record of their partition
    decided: list[Counted] = field(default_factory=list)


class Bench:
    """The topics of one counting role, its load, its workers and the proof; `close` ends all."""

    def __init__(
        self,
        kafka: str,
        folder: Path,
        name: str,
        reads: Iterable[Reads] | None = None,
        changelog: Mapping[str, str] | None = None,
        **settings: Any,
    ) -> None:
        self.kafka, self.folder, self.name = kafka, folder, name
        self.reads = tuple(reads or [Reads(901, f"{name}-in")])
        self.settings = settings
        self.workers: list[Worker] = []
        self.admin = AdminClient({"bootstrap.servers": kafka, "log_level": 0})
        self._dice = random.Random(name)
        self._folders = itertools.count()
        told = self.told("none")
        self.group, self.changelog = told.app, f"{told.app}-{TABLE}-changelog"
        self.out, self.partitions = told.out.full_name, told.partitions
        names = [reads.topic.full_name for reads in self.reads]
        self.make(*names, self.out)
        self.make(self.changelog, **{"cleanup.policy": "compact", **(changelog or {})})

    def make(self, *names: str, **config: str) -> None:
        """Create topics."""
        made = self.admin.create_topics([NewTopic(n, self.partitions, 1, config=config) for n in names])
        for future in made.values():
            future.result()

    def told(self, folder: str, **changes: Any) -> Counting:
        """Return the settings of a worker."""
        (port,) = free_ports(1, random.Random())
        return Counting(
            self.name, self.kafka, str(self.folder / folder), port, self.reads, **{**self.settings, **changes}
        )

    def start(self, folder: str | None = None, **changes: Any) -> Worker:
        """Start a worker; the same `folder` has the same local stores."""
        folder = folder or f"worker-{next(self._folders)}"
        settings = self.told(folder, **changes)
        log = self.folder / f"{folder}-{len(self.workers)}.log"
        argv = [sys.executable, str(APP), msgspec.json.encode(settings).decode()]
        worker = Worker(settings, spawn(argv, log), log)
        self.workers.append(worker)
        return worker

    def close(self) -> None:
        """End every worker that still runs."""
        for worker in self.workers:
            worker.kill()

    # -- load --------------------------------------------------------------------------------

    def producer(self, **config: Any) -> Producer:
        """Return an ordinary client with the partitioner of all our topics."""
        return Producer(
            {"bootstrap.servers": self.kafka, "partitioner": "murmur2_random", "linger.ms": 5, **config}
        )

    def load(self, count: int, users: int = 500, topic: str | None = None, size: int = 100) -> None:
        """Write records of random users; returns when they are acknowledged."""
        name = topic or self.reads[0].topic.full_name
        producer = self.producer()
        for _ in range(count):
            user = b"u%d" % self._dice.randrange(users)
            while True:
                try:
                    producer.produce(name, b"x" * size, user)
                    break
                except BufferError:
                    producer.poll(0.05)
        assert producer.flush(PATIENCE_S) == 0

    @contextmanager
    def loading(self, pause_s: float = 0.05) -> Iterator[None]:
        """Write a hundred records again and again while the block runs."""
        ending = threading.Event()

        def go_on() -> None:
            while not ending.is_set():
                self.load(100)
                ending.wait(pause_s)

        thread = threading.Thread(target=go_on)
        thread.start()
        try:
            yield
        finally:
            ending.set()
            thread.join()

    def write(self, topic: str, *rows: tuple[bytes, bytes | None], partition: int = -1) -> None:
        """Write records one after another; returns when they are acknowledged."""
        producer = self.producer()
        for key, value in rows:
            producer.produce(topic, value, key, partition)
        assert producer.flush(PATIENCE_S) == 0

    def trim(self, topic: str, partition: int, before: int) -> None:
        """Let a log forget what lies before an offset, as retention does."""
        for future in self.admin.delete_records([TopicPartition(topic, partition, before)]).values():
            assert future.result().low_watermark == before

    def remake(self, topic: str, **config: str) -> None:
        """Delete a topic and make it anew, empty."""
        self.admin.delete_topics([topic])[topic].result()
        until("the topic is gone", lambda: topic not in self.admin.list_topics(timeout=10).topics)
        self.make(topic, **config)

    def move_group(self, topic: str, partition: int, offset: int) -> None:
        """Set what the group, which must have no members, has committed."""
        wanted = ConsumerGroupTopicPartitions(self.group, [TopicPartition(topic, partition, offset)])
        self.admin.alter_consumer_group_offsets([wanted])[self.group].result()

    def lag(self) -> int:
        """Records below the last stable offsets that the group has not committed."""
        scan = Scan(self.kafka)
        places = scan.places([reads.topic.full_name for reads in self.reads])
        committed, starts = self.committed(), scan.starts(places)
        return sum(end - committed.get(at, starts[at]) for at, end in scan.ends(places).items())

    def committed(self) -> dict[tuple[str, int], int]:
        """What the group has committed."""
        scan = Scan(self.kafka)
        scan.places([reads.topic.full_name for reads in self.reads])
        return scan.committed(self.group)

    def drained(self) -> bool:
        """Whether everything is committed, as far as a broker answers."""
        try:
            return self.lag() == 0
        except KafkaSilent:
            return False

    def wait_drained(self, patience_s: float = PATIENCE_S) -> None:
        """Wait until everything is committed; fails if a worker ends that should not."""

        def drained() -> bool:
            ended = [w.said for w in self.workers if not w.ending and w.process.poll() is not None]
            assert not ended, ended
            return self.drained()

        until("all is committed", drained, patience_s)

    def restarted(self) -> bool:
        """Start again, as a supervisor does, whoever has ended unasked; always true."""
        for worker in list(self.workers):
            if not worker.ending and worker.process.poll() is not None:
                worker.ending = True
                self.start(Path(worker.settings.folder).name)
        return True

    # -- proof -------------------------------------------------------------------------------

    def read(self, *topics: str) -> Iterator[Stored]:
        """Yield the committed records of topics; those of a partition in order."""
        scan = Scan(self.kafka)
        places = scan.places(topics)
        starts, ends = scan.starts(places), scan.ends(places)
        for batch in scan.read({place: (starts[place], ends[place]) for place in places}):
            yield from batch

    def verify(self) -> Verdict:
        """Compare outputs and state with what the order of the records demands."""
        gates = {reads.gate for reads in self.reads}
        counted = {r.topic.full_name: r.number for r in self.reads if r.name not in gates}
        verdict = Verdict()
        expected: dict[tuple[int, int, int], int] = {}
        totals: dict[tuple[int, bytes], int] = defaultdict(int)
        for record in self.read(*counted):
            number = counted[record.topic]
            totals[number, record.key] += 1
            expected[number, record.partition, record.offset] = totals[number, record.key]
        verdict.records = len(expected)
        found: dict[tuple[int, int, int], int] = defaultdict(int)
        newest: dict[tuple[int, int], int] = defaultdict(int)
        for record in self.read(self.out):
            proof = msgspec.json.decode(record.value or b"", type=Counted)
            verdict.decided.append(proof)
            verdict.outputs += 1
            at = (proof.topic, record.partition, proof.offset)
            found[at] += 1
            lane = (proof.topic, record.partition)
            verdict.overtaken += proof.offset < newest[lane]
            newest[lane] = max(newest[lane], proof.offset)
            verdict.wrong += expected.get(at) != proof.count
        verdict.missing = len(expected.keys() - found.keys())
        verdict.repeats = sum(found.values()) - len(found)
        state: dict[tuple[int, bytes], int] = {}
        for record in self.read(self.changelog):
            at_row, count = (record.partition, record.key), int(record.value or 0)
            verdict.back_in_time += count < state.get(at_row, 0)
            state[at_row] = count
        users = {key: count for (_, key), count in state.items() if key.startswith(b"u|")}
        verdict.state_wrong = sum(users.get(user_row(*who)) != count for who, count in totals.items())
        return verdict
