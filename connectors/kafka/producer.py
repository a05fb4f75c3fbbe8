"""Kafka's own C producer: bursts in, one callback when all of them are durable."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from confluent_kafka import KafkaException, Producer

from connectors.kafka.block import Headers
from connectors.kafka.exits import leave, leave_for, leave_on_error
from streams.errors import DeliveryFailed

Done = Callable[[int], None]  # gets the highest delivered offset


@dataclass(frozen=True)
class ProducerSettings:
    """What matters of librdkafka; the rest is fixed (acks=all, idempotent, murmur2, lz4)."""

    bootstrap: str
    client_id: str
    linger_ms: float = 2.0
    message_timeout_ms: int = 14_000  # below half the session timeout of the role
    queue_records: int = 200_000
    queue_bytes: int = 256 << 20
    max_bytes: int = 4 << 20


class BlockProducer:
    """Sends bursts; a record that Kafka does not confirm ends the process.

    Never blocks: callers look at `room` and come back when `on_progress` is called. So its queue is
    never full, and a record that is refused nevertheless is refused for good.
    """

    def __init__(self, settings: ProducerSettings) -> None:
        self.settings = settings
        self._producer = Producer(
            {
                "bootstrap.servers": settings.bootstrap,
                "client.id": settings.client_id,
                "partitioner": "murmur2_random",
                "acks": "all",
                "enable.idempotence": True,
                "compression.type": "lz4",
                "linger.ms": settings.linger_ms,
                "message.timeout.ms": settings.message_timeout_ms,
                # Ours are the bounds: a burst that outgrows them alone must not be cut by these.
                "queue.buffering.max.messages": 10_000_000,
                "queue.buffering.max.kbytes": 2_147_483_647,
                "batch.size": 1 << 20,
                "message.max.bytes": settings.max_bytes,
                "log_level": 2,
            }
        )
        self.in_flight = 0
        self.in_flight_bytes = 0
        self._woken = asyncio.Event()
        self._running: asyncio.Task[None] | None = None
        self.on_progress: list[Callable[[], None]] = []

    def room(self, records: int, size: int) -> bool:
        """Whether a burst of so many records and bytes fits; one above the bounds goes out alone."""
        return self.in_flight == 0 or (
            self.in_flight + records <= self.settings.queue_records
            and self.in_flight_bytes + size <= self.settings.queue_bytes
        )

    def send(self, topic: str, records: list[dict[str, Any]], size: int, partition: int, done: Done) -> None:
        """Send a burst of at least one record to one topic; `done` is called once, when all are durable.

        `size` is the bytes of their keys and values. `partition` is that of all of them, -1 by their
        keys: librdkafka's client overlooks a partition that a record of a batch names for itself.
        """
        left, highest = len(records), -1

        def delivered(error: Any, message: Any) -> None:
            nonlocal left, highest
            if error is not None:
                leave(DeliveryFailed(f"{topic}: {error}"))
            left -= 1
            self.in_flight -= 1
            offset = message.offset()
            if offset > highest:
                highest = offset
            if left == 0:
                self.in_flight_bytes -= size
                _call(done, highest)

        self.in_flight += left
        self.in_flight_bytes += size
        try:
            taken = self._producer.produce_batch(topic, records, partition=partition, on_delivery=delivered)
        except (BufferError, KafkaException) as error:
            leave(DeliveryFailed(f"{topic}: {error}"))
        if taken != len(records):
            # Some of the burst are on their way without the others: only a restart mends that.
            refused = next((str(r["_error"]) for r in records if "_error" in r), "refused")
            leave(
                DeliveryFailed(
                    f"{topic}: {len(records) - taken} of {len(records)} records refused: {refused}"
                )
            )
        self._woken.set()

    def send_headed(
        self,
        topic: str,
        partition: int | None,
        key: bytes | None,
        value: bytes | None,
        headers: Headers,
        done: Done,
    ) -> None:
        """Send one record that carries headers."""
        size = len(key or b"") + len(value or b"")

        def delivered(error: Any, message: Any) -> None:
            if error is not None:
                leave(DeliveryFailed(f"{topic}: {error}"))
            self.in_flight -= 1
            self.in_flight_bytes -= size
            _call(done, message.offset())

        self.in_flight += 1
        self.in_flight_bytes += size
        try:
            self._producer.produce(
                topic, value, key, -1 if partition is None else partition, delivered, headers=list(headers)
            )
        except (BufferError, KafkaException) as error:
            leave(DeliveryFailed(f"{topic}: {error}"))
        self._woken.set()

    def poll(self) -> None:
        """Run the callbacks of what was delivered."""
        self._producer.poll(0)

    def start(self) -> None:
        """Keep callbacks coming for as long as the process lives; idle costs nothing."""
        if self._running is None:
            self._running = asyncio.get_running_loop().create_task(self._run(), name="producer")
            self._running.add_done_callback(leave_on_error)

    async def _run(self) -> None:
        while True:
            if self.in_flight == 0:
                self._woken.clear()
                await self._woken.wait()
            served = self._producer.poll(0)
            if served:
                for progress in self.on_progress:
                    progress()
            await asyncio.sleep(0 if served else 0.001)

    def close(self, timeout_s: float = 10.0) -> None:
        """Send out what is queued before a clean end."""
        self._producer.flush(timeout_s)


def _call(done: Done, offset: int) -> None:
    try:
        done(offset)
    except Exception as error:  # the client would lose it on its way through C
        leave_for(error, "a delivery callback")
