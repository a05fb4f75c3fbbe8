"""Reads what is written to some topics from now on, without a consumer group."""

from collections.abc import Sequence

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from connectors.kafka.scan import Place, Scan
from streams.errors import HarkaraError
from streams.topics import Topic


class Tail:
    """Begins at the topics' ends as they are when it is made; a context manager."""

    def __init__(self, bootstrap: str, topics: Sequence[Topic]) -> None:
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": "harkara-tail",  # required by the client, never joined
                "enable.auto.commit": False,
                "enable.partition.eof": False,
                "auto.offset.reset": "earliest",
                "fetch.wait.max.ms": 50,
                "log_level": 2,
            }
        )
        self._scan = Scan(bootstrap)
        self._places = self._scan.places([topic.full_name for topic in topics])
        self.starts = self.ends()  # (topic, partition) -> first offset that is read
        self._consumer.assign([TopicPartition(*place, start) for place, start in self.starts.items()])

    def __enter__(self) -> "Tail":
        return self

    def __exit__(self, *_: object) -> None:
        self._consumer.close()

    def ends(self) -> dict[Place, int]:
        """Return each partition's end at this moment; safe while another thread takes."""
        return self._scan.ends(self._places)

    def take(self, timeout_s: float, most: int = 2_000) -> list[Message]:
        """Return what came, up to `most` records; waits up to `timeout_s` for the first."""
        first = self._consumer.poll(timeout_s)
        if first is None:
            return []
        taken: list[Message] = []
        for message in [first, *self._consumer.consume(most - 1, 0)]:
            error = message.error()
            if error is None:
                taken.append(message)
            elif error.code() not in (KafkaError._ALL_BROKERS_DOWN, KafkaError._TRANSPORT):
                raise HarkaraError(f"{message.topic()}: {KafkaException(error)}")
        return taken
