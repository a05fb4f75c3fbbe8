"""How far each consumer group is behind the topics it reads."""

from collections.abc import Mapping, Sequence

from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition

from connectors.kafka.offsets import TIMEOUT_S, Offsets, Place
from streams.topics import Topic


class Lags:
    """Asks the broker, as operators do: what is committed against what is there."""

    def __init__(self, bootstrap: str, groups: Mapping[str, Sequence[Topic]]) -> None:
        """`groups`: consumer group -> the topics it reads."""
        self._offsets = Offsets(bootstrap)
        self._places = {group: self._offsets.places(topics) for group, topics in groups.items()}

    def measure(self) -> dict[str, int]:
        """Return records that are not committed yet, by group."""
        everything = {place for places in self._places.values() for place in places}
        firsts, ends = self._offsets.firsts(everything), self._offsets.ends(everything)
        found: dict[str, int] = {}
        for group, places in self._places.items():
            committed = self._committed(group, places)
            found[group] = sum(max(0, ends[place] - committed.get(place, firsts[place])) for place in places)
        return found

    def _committed(self, group: str, places: list[Place]) -> dict[Place, int]:
        asked = ConsumerGroupTopicPartitions(group, [TopicPartition(*place) for place in places])
        futures = self._offsets.admin.list_consumer_group_offsets([asked], request_timeout=TIMEOUT_S)
        (told,) = [future.result().topic_partitions for future in futures.values()]
        return {(place.topic, place.partition): place.offset for place in told if place.offset >= 0}
