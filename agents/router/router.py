"""The router's loops: blocks in, writes out, and a clock for what waits."""

import asyncio
from dataclasses import dataclass

from agents.poison import PoisonGuard
from agents.router.admission import Admitting
from agents.router.firing import Firing
from agents.router.learning import Learning
from agents.router.returning import Returning
from agents.sweeper import Sweeper
from agents.tally import Tally
from connectors.kafka.app import Blocks
from connectors.kafka.transport import Transport
from connectors.telemetry import Telemetry
from streams.catalog import Catalog
from streams.clock import Clock
from streams.policy.freshness import Freshness
from streams.records.codec import state_admission
from streams.topics import TOPICS, USER_STATE
from tables import dedup
from tables.keys import DEDUP
from tables.preferences import Preferences
from tables.schedule import Schedule
from tables.users import Users


@dataclass(frozen=True)
class RouterSettings:
    """What an installation may set."""

    partitions: int
    freshness: Freshness
    tick_ms: int = 200


_TOPIC_NAMES = {topic.number: topic.full_name for topic in TOPICS}


class Router:
    """Decides once per source record, however often Kafka hands it over.

    State changes are effectively once per record: a replay repeats the recorded decision. What
    was decided leaves only after it is durable in the changelog.
    """

    def __init__(
        self,
        transport: Transport,
        catalog: Catalog,
        clock: Clock,
        telemetry: Telemetry,
        settings: RouterSettings,
    ) -> None:
        preferences = Preferences(transport.view)
        users = Users(transport.view, preferences)
        schedule = Schedule(transport.view)
        self._transport = transport
        self._clock = clock
        self._tick_s = settings.tick_ms / 1000
        self._admitting = Admitting(
            catalog,
            users,
            schedule,
            settings.freshness,
            settings.partitions,
            PoisonGuard(),
            Tally(telemetry),
        )
        self._learning = Learning(preferences, "default", PoisonGuard())
        self._returning = Returning(users, schedule)
        after_dedup = DEDUP[:-1] + bytes([DEDUP[-1] + 1])
        self._sweeper = Sweeper(transport, clock, USER_STATE, DEDUP, after_dedup, self._is_over)
        self._firing = Firing(transport, catalog, users, schedule, settings.freshness, PoisonGuard())

    async def ingest(self, blocks: Blocks) -> None:
        """Decide events as they come."""
        async for block in blocks.noack():
            if self._transport.current(block):
                await self._transport.finish(block, self._admitting.admit(block, self._clock.now_ms()))

    async def profiles(self, blocks: Blocks) -> None:
        """Learn what users want."""
        async for block in blocks.noack():
            if self._transport.current(block):
                await self._transport.finish(block, self._learning.learn(block, self._clock.now_ms()))

    async def followups(self, blocks: Blocks) -> None:
        """Take back what senders could not settle."""
        async for block in blocks.noack():
            if self._transport.current(block):
                await self._transport.finish(block, self._returning.take_back(block, self._clock.now_ms()))

    async def timers(self) -> None:
        """Fire what is due, for as long as the process lives."""
        while True:
            fired = await self._firing.tick(self._clock.now_ms())
            await asyncio.sleep(0 if fired else self._tick_s)

    async def sweeping(self) -> None:
        """Let first results go whose window is over."""
        await self._sweeper.run()

    def _is_over(self, partition: int, _: bytes, value: bytes, now_ms: int) -> bool:
        topic = _TOPIC_NAMES[state_admission(value).source.topic]
        return dedup.is_over(value, now_ms, self._transport.committed(topic, partition))

    def forget(self) -> None:
        """Drop what is kept in memory of partitions that were taken away."""
        self._firing.forget()
