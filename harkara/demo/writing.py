"""The producers of the demo: a shop, a login and a client that partitions in another way."""

import asyncio
import time
from collections.abc import Iterable, Sequence
from contextlib import ExitStack

from connectors.kafka.client_producer import CRC32, ClientProducer, Stored
from harkara.demo.events import Event
from harkara.demo.people import Person
from harkara.wall_clock import WallClock
from streams.records.codec import to_json
from streams.topics import PROFILES

_TURN = 200  # records between two looks at what else there is to do


class Producers:
    """Three clients of Kafka, each with its own connection; a context manager.

    `acknowledged` maps the notification ids of one-time passwords to the instant on the wall at
    which Kafka confirmed them.
    """

    def __init__(self, bootstrap: str) -> None:
        clock = WallClock()
        self._shop = ClientProducer(bootstrap, clock)
        self._login = ClientProducer(bootstrap, clock, linger_ms=0)
        self._foreign = ClientProducer(bootstrap, clock, partitioner=CRC32)
        self._open = ExitStack()
        self.written = 0
        self.acknowledged: dict[str, int] = {}

    def __enter__(self) -> "Producers":
        for producer in (self._shop, self._login, self._foreign):
            self._open.enter_context(producer)
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    async def introduce(self, people: Iterable[Person], at_ms: int) -> int:
        """Tell the pipeline about everybody; returns the number of commands, all durable."""
        count = 0
        for person in people:
            for command in person.commands(at_ms):
                self._shop.send(PROFILES.full_name, person.user_id.encode(), to_json(command))
                count += 1
                if count % _TURN == 0:
                    await asyncio.sleep(0)
        await asyncio.to_thread(self._shop.flush)
        return count

    async def play(self, events: Sequence[Event], *, logins: bool = False) -> None:
        """Write each event at its time, or as fast as Kafka takes them; returns when all are durable."""
        begun = time.monotonic()
        for number, event in enumerate(events):
            early_s = begun + event.at_ms / 1000 - time.monotonic()
            if early_s > 0:
                await asyncio.sleep(early_s)
            elif number % _TURN == 0:
                await asyncio.sleep(0)
            self._write(event, logins)
        for producer in (self._login,) if logins else (self._shop, self._foreign):
            await asyncio.to_thread(producer.flush)

    def _write(self, event: Event, login: bool) -> None:
        self.written += 1
        if not login:
            producer = self._foreign if event.by_crc32 else self._shop
            producer.send(event.topic, event.key, event.value)
            return

        def note(stored: Stored) -> None:
            self.acknowledged[event.notification_id] = stored.at_ms

        self._login.send(event.topic, event.key, event.value, note)
