"""How far a consumer group is, seen from outside: committed offsets against the ends."""

import time
from collections.abc import Callable, Iterable

from confluent_kafka import Consumer, KafkaException, TopicPartition


class Progress:
    """Counts what a group has committed of some topics."""

    def __init__(self, kafka: str, group: str, topics: Iterable[str], partitions: int) -> None:
        self._consumer = Consumer({"bootstrap.servers": kafka, "group.id": group, "log_level": 2})
        self._places = [TopicPartition(topic, p) for topic in topics for p in range(partitions)]

    def ends(self) -> int:
        """Return how many records the topics hold."""
        return sum(self._consumer.get_watermark_offsets(place, timeout=10)[1] for place in self._places)

    def done(self) -> int:
        """Return how many of them the group has finished."""
        patience = 50
        while True:
            try:
                found = self._consumer.committed(self._places, timeout=10)
                return sum(max(0, place.offset) for place in found)
            except KafkaException:  # a broker that has just started is still loading the group
                patience -= 1
                if patience == 0:
                    raise
                time.sleep(0.2)

    def close(self) -> None:
        self._consumer.close()


def sampled(done: Callable[[], int], total: int, patience_s: float = 300.0) -> list[tuple[float, int]]:
    """Return (monotonic seconds, count) four times a second until `total` is reached."""
    samples: list[tuple[float, int]] = []
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline:
        samples.append((time.monotonic(), done()))
        if samples[-1][1] >= total:
            return samples
        time.sleep(0.25)
    raise TimeoutError(f"{samples[-1][1]} of {total} after {patience_s:.0f} s")


def steady_rate(samples: list[tuple[float, int]], total: int) -> float:
    """Return the rate between a fifth and nine tenths of the way: without start and tail."""
    part = [(at, count) for at, count in samples if 0.2 * total <= count <= 0.9 * total]
    if len(part) < 2:
        part = samples
    return (part[-1][1] - part[0][1]) / (part[-1][0] - part[0][0])
