"""Follows a small compacted topic whole: controls and the catalog, in every process."""

import asyncio
import threading
from collections.abc import Callable

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, TopicPartition

from connectors.kafka.exits import leave
from streams.errors import HarkaraError
from streams.topics import Topic

_TIMEOUT_S = 30.0
#: What a client that goes on by itself says of a broker that is away.
_PASSING = frozenset(
    {KafkaError._ALL_BROKERS_DOWN, KafkaError._TRANSPORT, KafkaError._RESOLVE, KafkaError._TIMED_OUT}
)
Apply = Callable[[bytes, bytes | None], None]


class Feed:
    """Reads a topic to its end before anything is decided, then keeps following it.

    Every process sees every record, without a consumer group.
    """

    def __init__(self, bootstrap: str, topic: Topic, apply: Apply) -> None:
        self._topic = topic.full_name
        self._apply = apply
        self._ended: set[int] = set()  # partitions once read to their end, whatever lies there
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": f"{self._topic}-feed",  # required by the client, never joined
                "enable.auto.commit": False,
                "isolation.level": "read_committed",
                "auto.offset.reset": "earliest",
                "enable.partition.eof": True,
                "fetch.wait.max.ms": 100,
                "log_level": 2,
            }
        )

    def read_to_end(self) -> None:
        """Apply everything that is in the topic now; call before the event loop runs."""
        topics = self._consumer.list_topics(self._topic, timeout=_TIMEOUT_S).topics
        partitions = topics[self._topic].partitions
        self._consumer.assign(
            [TopicPartition(self._topic, number, OFFSET_BEGINNING) for number in partitions]
        )
        while not self._ended.issuperset(partitions):
            for key, value in self._take(1.0):
                self._apply(key, value)

    def follow(self, loop: asyncio.AbstractEventLoop) -> None:
        """Apply what comes from now on, on the loop's thread."""

        def run() -> None:
            while not self._stopping.is_set():
                for key, value in self._take(0.2):
                    loop.call_soon_threadsafe(self._apply, key, value)
            self._consumer.close()

        self._thread = threading.Thread(target=run, name=f"feed {self._topic}", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Read no more."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(5)
        else:
            self._consumer.close()

    def _take(self, timeout_s: float) -> list[tuple[bytes, bytes | None]]:
        first = self._consumer.poll(timeout_s)
        if first is None:
            return []
        taken: list[tuple[bytes, bytes | None]] = []
        # Only what is there: `consume` would wait the whole time for the last of 500.
        for message in [first, *self._consumer.consume(499, 0)]:
            error = message.error()
            if error is None:
                taken.append((message.key() or b"", message.value()))
            elif error.code() == KafkaError._PARTITION_EOF:
                self._ended.add(message.partition() or 0)
            elif error.code() not in _PASSING:
                leave(HarkaraError(f"{self._topic}: {KafkaException(error)}"))
        return taken
