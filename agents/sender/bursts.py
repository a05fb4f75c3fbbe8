"""Many deliveries' writes as one: those that come within a few milliseconds share a burst."""

import asyncio

from connectors.kafka.block import Writes
from connectors.kafka.transport import Transport


class Bursts:
    """Collects writes of each partition for up to `hold_ms` and applies them together.

    One burst costs one changelog request however many deliveries are in it; nobody waits longer
    than `hold_ms` plus the time Kafka takes.
    """

    def __init__(self, transport: Transport, hold_ms: float, most: int) -> None:
        self._transport = transport
        self._hold_s = hold_ms / 1000
        self._most = most
        self._open: dict[int, tuple[Writes, asyncio.Future[None], int]] = {}

    async def join(self, writes: Writes) -> None:
        """Join the partition's burst; returns when it is durable, whoever else is cancelled."""
        await asyncio.shield(self.add(writes))

    def add(self, writes: Writes) -> asyncio.Future[None]:
        """Join the partition's burst; the future ends when the burst is durable. Never cancel it."""
        partition = writes.partition
        found = self._open.get(partition)
        loop = asyncio.get_running_loop()
        if found is None:
            future: asyncio.Future[None] = loop.create_future()
            self._open[partition] = (writes, future, 1)
            loop.call_later(self._hold_s, self._send, partition, future)
            return future
        burst, future, count = found
        burst.add(writes)
        self._open[partition] = (burst, future, count + 1)
        if count + 1 >= self._most:
            self._send(partition, future)
        return future

    def flush(self) -> None:
        """Send every open burst now (partitions are being taken away)."""
        for partition, (_, future, _) in list(self._open.items()):
            self._send(partition, future)

    def _send(self, partition: int, future: asyncio.Future[None]) -> None:
        found = self._open.get(partition)
        if found is None or found[1] is not future:
            return  # it went out earlier, being full
        del self._open[partition]
        durable = self._transport.post(found[0])
        durable.add_done_callback(lambda _: future.set_result(None))
