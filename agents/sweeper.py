"""Lets rows go whose time is over: state must not grow with everything that ever happened."""

import asyncio
from collections.abc import Callable

from connectors.kafka.block import Writes
from connectors.kafka.transport import Transport
from streams.clock import Clock

#: (partition, key, value, now_ms) -> whether no replay and no rule needs the row any more.
IsOver = Callable[[int, bytes, bytes, int], bool]


class Sweeper:
    """Walks one key range of a table round and round, a few hundred rows at a time.

    It is in no hurry while little is over, and keeps at it while much is.
    """

    def __init__(
        self, transport: Transport, clock: Clock, table: str, first: bytes, last: bytes, is_over: IsOver
    ) -> None:
        self._transport = transport
        self._clock = clock
        self._table = table
        self._first = first
        self._last = last
        self._is_over = is_over
        self._places: dict[int, bytes] = {}
        self._rows = 500
        self._pause_s = 1.0

    async def run(self) -> None:
        """Sweep for as long as the process lives."""
        while True:
            gone = 0
            for partition in sorted(self._transport.owned()):
                # Asked again for each: partitions may be taken away during the one before.
                if partition in self._transport.owned() and self._transport.timers_open(partition):
                    gone += await self.sweep(partition)
            await asyncio.sleep(0 if gone >= self._rows // 2 else self._pause_s)

    async def sweep(self, partition: int) -> int:
        """Look at the next few hundred rows of a partition; returns how many went."""
        start = self._places.get(partition, self._first)
        rows = self._transport.view(self._table, partition).scan(start, self._last, self._rows)
        self._places[partition] = rows[-1][0] + b"\0" if len(rows) == self._rows else self._first
        now_ms = self._clock.now_ms()
        writes = Writes(partition)
        for key, value in rows:
            if self._is_over(partition, key, value, now_ms):
                writes.delete(self._table, key)
        gone = len(writes.changes.get(self._table, {}))
        if gone:
            await self._transport.durable(writes)
        return gone
