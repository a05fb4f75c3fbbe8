"""Writes to public topics as a client in any program would: one record at a time, each confirmed."""

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from confluent_kafka import KafkaException, Producer
from msgspec import Struct

from streams.clock import Clock
from streams.errors import DeliveryFailed

#: Kafka's own partitioner, which the pipeline expects.
MURMUR2 = "murmur2_random"
#: librdkafka's default, which puts a user on another partition.
CRC32 = "consistent_random"


class Stored(Struct, frozen=True, gc=False):
    """Where a record went, and when Kafka confirmed that it is durable."""

    topic: str
    partition: int
    offset: int
    at_ms: int  # of the given clock


class ClientProducer:
    """An idempotent producer (acks=all) that keeps the order of what is sent; a context manager.

    Confirmations are dated by a thread of its own, within a millisecond or so of their arrival.
    """

    def __init__(
        self,
        bootstrap: str,
        clock: Clock,
        *,
        partitioner: str = MURMUR2,
        linger_ms: float = 5,
        patience_ms: int = 30_000,
    ) -> None:
        """`patience_ms`: a record that Kafka does not confirm for so long has failed."""
        self._clock = clock
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "client.id": "harkara-client",
                "partitioner": partitioner,
                "acks": "all",
                "enable.idempotence": True,
                "compression.type": "lz4",
                "linger.ms": linger_ms,
                "message.timeout.ms": patience_ms,
                "message.max.bytes": 4 << 20,
                "log_level": 2,
            }
        )
        self._failed: str | None = None
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="client-producer", daemon=True)

    def __enter__(self) -> "ClientProducer":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        self._thread.join()
        self._producer.flush(5)

    def send(
        self,
        topic: str,
        key: bytes | None,
        value: bytes,
        stored: Callable[[Stored], None] | None = None,
        headers: Sequence[tuple[str, bytes]] = (),
    ) -> None:
        """Queue a record; `stored` is called, on another thread, once it is durable.

        Waits while the queue is full. Raises DeliveryFailed if Kafka refused an earlier record.
        """

        def confirmed(error: Any, message: Any) -> None:
            if error is not None:
                self._failed = f"{topic}: {error}"
            elif stored is not None:
                stored(Stored(topic, message.partition(), message.offset(), self._clock.now_ms()))

        while True:
            self._check()
            try:
                self._producer.produce(topic, value, key, on_delivery=confirmed, headers=list(headers))
            except BufferError:
                time.sleep(0.005)
            except KafkaException as error:
                raise DeliveryFailed(f"{topic}: {error}") from error
            else:
                return

    def flush(self, timeout_s: float = 30.0) -> None:
        """Return when everything sent so far is durable; raises DeliveryFailed if it cannot be."""
        left = self._producer.flush(timeout_s)
        self._check()
        if left:
            raise DeliveryFailed(f"Kafka did not confirm {left} records within {timeout_s:.0f} s")

    def _check(self) -> None:
        if self._failed is not None:
            raise DeliveryFailed(self._failed)

    def _serve(self) -> None:
        while not self._ending.is_set():
            self._producer.poll(0.1)
