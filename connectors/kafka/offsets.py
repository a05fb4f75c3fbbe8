"""Where the partitions of some topics begin and end, asked by an admin client of its own.

A consumer that is polled on another thread must not be asked: its answer may never come.
"""

from collections.abc import Iterable

from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec  # type: ignore[attr-defined]  # its stub omits one

from streams.topics import Topic

TIMEOUT_S = 30.0
Place = tuple[str, int]  # topic, partition

_FIRST: OffsetSpec = OffsetSpec.earliest()  # type: ignore[no-untyped-call]  # confluent-kafka ships no types here
_END: OffsetSpec = OffsetSpec.latest()  # type: ignore[no-untyped-call]


class Offsets:
    """Safe to use from any thread."""

    def __init__(self, bootstrap: str) -> None:
        self.admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 2})

    def places(self, topics: Iterable[Topic]) -> list[Place]:
        """Return the partitions of these topics."""
        known = self.admin.list_topics(timeout=TIMEOUT_S).topics
        return [(topic.full_name, number) for topic in topics for number in known[topic.full_name].partitions]

    def firsts(self, places: Iterable[Place]) -> dict[Place, int]:
        """Return the offset of the oldest record that is kept."""
        return self._ask(places, _FIRST)

    def ends(self, places: Iterable[Place]) -> dict[Place, int]:
        """Return the offset that the next record will get."""
        return self._ask(places, _END)

    def _ask(self, places: Iterable[Place], what: OffsetSpec) -> dict[Place, int]:
        asked = {TopicPartition(*place): what for place in places}
        if not asked:
            return {}
        futures = self.admin.list_offsets(asked, request_timeout=TIMEOUT_S)
        return {(place.topic, place.partition): future.result().offset for place, future in futures.items()}
