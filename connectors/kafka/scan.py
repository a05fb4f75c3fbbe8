"""Looks at a cluster without taking part: offsets, and records between two offsets. Changes nothing."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar, cast

from confluent_kafka import (
    OFFSET_INVALID,
    Consumer,
    IsolationLevel,
    KafkaError,
    KafkaException,
    TopicPartition,
)
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # OffsetSpec is not in its __all__
    AdminClient,
    OffsetSpec,
)
from msgspec import Struct

from streams.errors import HarkaraError

T = TypeVar("T")
#: A topic's name and a partition's number.
Place = tuple[str, int]

_TIMEOUT_S = 30.0
_AT_ONCE = 10_000
#: A read waits this long for its batch to fill, so short ranges are read at once.
_TURN_S = 0.03
#: A topic that was just made has no leader for a moment, a broker that just started knows no groups.
_PASSING = {
    KafkaError.UNKNOWN_TOPIC_OR_PART,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.UNKNOWN_LEADER_EPOCH,
    KafkaError.NOT_COORDINATOR,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
}
_RETRY_S = 0.1


class KafkaSilent(HarkaraError):
    """Kafka does not answer, or stopped answering while it was read."""


class Stored(Struct, frozen=True, gc=False):
    """A record as it lies in Kafka."""

    topic: str
    partition: int
    offset: int
    key: bytes
    value: bytes | None  # None: a tombstone
    headers: tuple[tuple[str, bytes], ...]


class Scan:
    """One look at a cluster. Offsets are exclusive ends; a topic that does not exist has no partitions."""

    def __init__(self, bootstrap: str, namespace: str = "", timeout_s: float = _TIMEOUT_S) -> None:
        """Connect; raises KafkaSilent when no broker answers.

        `namespace` stands before every topic's and group's name in Kafka, and nowhere else.
        """
        self._bootstrap = bootstrap
        self._namespace = namespace
        self._members: dict[str, Consumer] = {}
        self._admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
        try:
            topics = self._admin.list_topics(timeout=timeout_s).topics
        except KafkaException as error:
            raise KafkaSilent(f"Kafka does not answer ({error.args[0].name()})") from error
        self._partitions = {
            self._bare(name): len(topic.partitions)
            for name, topic in topics.items()
            if name.startswith(namespace)
        }

    def partitions(self, topic: str) -> int:
        """How many partitions a topic has; 0 when it does not exist."""
        return self._partitions.get(topic, 0)

    def places(self, topics: Sequence[str]) -> list[Place]:
        """All partitions of these topics."""
        return [(topic, number) for topic in topics for number in range(self.partitions(topic))]

    def starts(self, places: Sequence[Place]) -> dict[Place, int]:
        """The first offset of each that is still kept."""
        return self._offsets(places, OffsetSpec.earliest())  # type: ignore[no-untyped-call]  # not annotated

    def ends(self, places: Sequence[Place]) -> dict[Place, int]:
        """The last stable offset of each: what a reader of committed records can reach."""
        return self._offsets(places, OffsetSpec.latest())  # type: ignore[no-untyped-call]  # not annotated

    def committed(self, group: str) -> dict[Place, int]:
        """What a group has acknowledged; a partition it never acknowledged is not there."""
        member = self._members.get(group)
        if member is None:
            # Never joins. The admin client is not asked: a broker that is not ready ends the process in it.
            settings = {
                "bootstrap.servers": self._bootstrap,
                "group.id": self._namespace + group,
                "log_level": 0,
            }
            member = self._members[group] = Consumer(settings)
        asked = [self._at(place) for place in self.places(tuple(self._partitions))]
        found = self._patiently(f"nothing of {group}", lambda: member.committed(asked, timeout=_TIMEOUT_S))
        return {self._place(p): p.offset for p in found if p.offset >= 0}

    def read(self, ranges: Mapping[Place, tuple[int, int]]) -> Iterator[list[Stored]]:
        """Yield committed records from each start to before each end, in batches, a partition in order.

        Raises KafkaSilent when nothing comes for 30 s.
        """
        left = {place: end for place, (start, end) in ranges.items() if start < end}
        if not left:
            return
        consumer = Consumer(
            {
                "bootstrap.servers": self._bootstrap,
                "group.id": "harkara-scan",  # required by the client, never joined
                "enable.auto.commit": False,
                "enable.auto.offset.store": False,
                "isolation.level": "read_committed",
                "auto.offset.reset": "earliest",
                "enable.partition.eof": True,
                "fetch.wait.max.ms": 50,
                "queued.max.messages.kbytes": 32_768,
                "log_level": 0,
            }
        )
        try:
            consumer.assign([self._at(place, ranges[place][0]) for place in left])
            yield from self._until(consumer, left)
        finally:
            consumer.close()

    def _offsets(self, places: Sequence[Place], spec: OffsetSpec) -> dict[Place, int]:
        if not places:
            return {}
        asked = {self._at(place): spec for place in places}

        def ask() -> dict[Place, int]:
            futures = self._admin.list_offsets(
                asked, isolation_level=IsolationLevel.READ_COMMITTED, request_timeout=_TIMEOUT_S
            )
            return {self._place(p): future.result().offset for p, future in futures.items()}

        return self._patiently("no offsets", ask)

    def _patiently(self, what: str, ask: Callable[[], T]) -> T:
        """Ask again while the trouble is a passing one."""
        give_up = time.monotonic() + _TIMEOUT_S
        while True:
            try:
                return ask()
            except KafkaException as error:
                if error.args[0].code() not in _PASSING or time.monotonic() > give_up:
                    raise KafkaSilent(f"Kafka tells {what} ({error.args[0].name()})") from error
            time.sleep(_RETRY_S)

    def _until(self, consumer: Consumer, left: dict[Place, int]) -> Iterator[list[Stored]]:
        """Yield batches until each partition in `left` is read up to its end."""
        heard = time.monotonic()
        while left:
            wanted: list[Stored] = []
            messages = consumer.consume(_AT_ONCE, _TURN_S)
            for message in messages:
                place = (self._bare(str(message.topic())), int(message.partition() or 0))
                end = left.get(place)
                if end is None:
                    continue
                error = message.error()
                if error is None:
                    offset = int(message.offset() or 0)
                    if offset < end:
                        given = cast("list[tuple[str, bytes | None]]", message.headers() or [])
                        headers = tuple((name, value or b"") for name, value in given)
                        wanted.append(Stored(*place, offset, message.key() or b"", message.value(), headers))
                    if offset >= end - 1:
                        del left[place]
                elif error.code() == KafkaError._PARTITION_EOF:
                    del left[place]  # what is missing before the end was compacted away or aborted
            if messages:
                heard = time.monotonic()
            elif time.monotonic() - heard > _TIMEOUT_S:
                raise KafkaSilent("Kafka stopped answering")
            if wanted:
                yield wanted

    def _at(self, place: Place, offset: int = OFFSET_INVALID) -> TopicPartition:
        return TopicPartition(self._namespace + place[0], place[1], offset)

    def _place(self, at: TopicPartition) -> Place:
        return self._bare(at.topic), at.partition

    def _bare(self, topic: str) -> str:
        return topic.removeprefix(self._namespace)
