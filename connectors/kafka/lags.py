"""How far each consumer group is behind the topics it reads."""

from collections.abc import Mapping, Sequence

from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec  # type: ignore[attr-defined]  # its stub omits one

from streams.topics import Topic

_TIMEOUT_S = 30.0
_EARLIEST: OffsetSpec = OffsetSpec.earliest()  # type: ignore[no-untyped-call]  # confluent-kafka ships no types here
_LATEST: OffsetSpec = OffsetSpec.latest()  # type: ignore[no-untyped-call]


class Lags:
    """Asks the broker, as operators do: what is committed against what is there."""

    def __init__(self, bootstrap: str, groups: Mapping[str, Sequence[Topic]]) -> None:
        """`groups`: consumer group -> the topics it reads."""
        self._admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 2})
        known = self._admin.list_topics(timeout=_TIMEOUT_S).topics
        self._places = {
            group: [
                (topic.full_name, number) for topic in topics for number in known[topic.full_name].partitions
            ]
            for group, topics in groups.items()
        }

    def measure(self) -> dict[str, int]:
        """Return records that are not committed yet, by group."""
        everything = {place for places in self._places.values() for place in places}
        ends, starts = self._offsets(everything, _LATEST), self._offsets(everything, _EARLIEST)
        found: dict[str, int] = {}
        for group, places in self._places.items():
            committed = self._committed(group, places)
            found[group] = sum(max(0, ends[place] - committed.get(place, starts[place])) for place in places)
        return found

    def _offsets(self, places: set[tuple[str, int]], what: OffsetSpec) -> dict[tuple[str, int], int]:
        asked = {TopicPartition(*place): what for place in places}
        futures = self._admin.list_offsets(asked, request_timeout=_TIMEOUT_S)
        return {(place.topic, place.partition): future.result().offset for place, future in futures.items()}

    def _committed(self, group: str, places: list[tuple[str, int]]) -> dict[tuple[str, int], int]:
        asked = ConsumerGroupTopicPartitions(group, [TopicPartition(*place) for place in places])
        (future,) = self._admin.list_consumer_group_offsets([asked], request_timeout=_TIMEOUT_S).values()
        told = future.result().topic_partitions
        return {(place.topic, place.partition): place.offset for place in told if place.offset >= 0}
