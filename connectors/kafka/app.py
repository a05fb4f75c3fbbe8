"""One role as a Faust app on the block transport, with every unsafe default of Faust switched off."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, cast

import faust
from mode.supervisors import CrashingSupervisor

from connectors.kafka.block import Block
from connectors.kafka.consumer import BlockConsumer, RevokeHook, consumer_for
from connectors.kafka.fence import Fence
from connectors.kafka.plan import ReadPlan
from connectors.kafka.producer import BlockProducer
from connectors.kafka.table import BlockSchema, BlockTable
from connectors.kafka.transport import Transport
from streams.errors import SettingError
from streams.topics import CHANGELOG_DELETE_RETENTION_MS, Topic

_TOUCH_S = 60.0


class Blocks(Protocol):
    """The stream an agent reads."""

    def noack(self) -> AsyncIterator[Block]:
        """Iterate over blocks; acknowledging is the transport's business."""
        ...


Agent = Callable[[Blocks], Awaitable[None]]


@dataclass(frozen=True)
class AppSettings:
    """What differs between roles and installations."""

    id: str
    bootstrap: str
    folder: Path  # local stores; one folder a process
    partitions: int
    session_ms: int = 30_000
    commit_interval_ms: int = 1_000
    instance_id: str | None = None  # static membership
    stale_after_ms: int = CHANGELOG_DELETE_RETENTION_MS // 2  # age at which a local store is not trusted


class BlockApp:
    """A Faust app, its tables and the transport that serves them."""

    def __init__(
        self, settings: AppSettings, plan: ReadPlan, tables: tuple[str, ...], producer: BlockProducer
    ) -> None:
        timeout_ms = producer.settings.message_timeout_ms
        if timeout_ms >= settings.session_ms / 2:
            raise SettingError(
                "message_timeout_ms", f"{timeout_ms} is not below half of {settings.session_ms}"
            )
        settings.folder.mkdir(parents=True, exist_ok=True)
        session_s = settings.session_ms / 1000
        self.settings = settings
        self.fence = Fence(session_s)
        self.faust = faust.App(
            settings.id,
            broker=f"kafka://{settings.bootstrap.replace(',', ';kafka://')}",
            autodiscover=False,
            datadir=settings.folder,
            store="rocksdb://",
            key_serializer="raw",
            value_serializer="raw",
            agent_supervisor=CrashingSupervisor,
            broker_client_id=settings.id,
            broker_commit_interval=settings.commit_interval_ms / 1000,
            broker_session_timeout=session_s,
            broker_heartbeat_interval=session_s / 6,
            broker_rebalance_timeout=max(20.0, session_s),
            broker_request_timeout=max(30.0, session_s + 5),
            broker_max_poll_interval=600.0,
            broker_max_poll_records=plan.block_records,
            consumer_max_fetch_size=4 << 20,
            consumer_auto_offset_reset="earliest",
            consumer_group_instance_id=settings.instance_id,
            stream_buffer_maxsize=max(64, settings.partitions * plan.blocks_in_flight * 2),
            stream_wait_empty=True,
            stream_recovery_delay=0.0,
            table_standby_replicas=0,
            topic_allow_declare=False,
            topic_disable_leader=True,
            topic_partitions=settings.partitions,
            web_enabled=False,
            web_tables_enabled=False,
            web_router_enabled=False,
        )
        revoke: list[RevokeHook] = []
        drop: list[Callable[[], None]] = []
        cast(Any, self.faust.transport).Consumer = consumer_for(plan, self.fence, revoke, drop)
        self.tables = {
            name: BlockTable(self.faust, name, settings.partitions, stale_after_ms=settings.stale_after_ms)
            for name in tables
        }
        for table in self.tables.values():
            self.faust.tables.add(table)
        self.transport = Transport(self._consumer, producer, self.tables, self.fence)
        self._revoke_hooks, self._drop_hooks = revoke, drop
        revoke.append(self.transport.drained)
        drop.append(self.transport.forget)
        self._producer = producer
        self.faust.task(self._keep)

    def _consumer(self) -> BlockConsumer:
        return cast(BlockConsumer, self.faust.consumer)

    def agent(self, topic: Topic, name: str, body: Agent) -> None:
        """Let `body` read a topic's blocks; `name` is explicit and never changes."""
        channel = self.faust.topic(topic.full_name, schema=BlockSchema(), partitions=self.settings.partitions)
        self.faust.agent(channel, name=name)(cast(Any, body))

    def task(self, body: Callable[[], Awaitable[None]]) -> None:
        """Run `body` beside the agents, once tables are restored."""
        self.faust.task(body)

    def on_revoke(self, hook: RevokeHook) -> None:
        """Await `hook` when partitions are taken away, before the last commit; bounded to 10 s."""
        self._revoke_hooks.insert(0, hook)

    def on_drop(self, hook: Callable[[], None]) -> None:
        """Call `hook` after partitions were taken away: what is in memory of them must go."""
        self._drop_hooks.append(hook)

    @property
    def ready(self) -> bool:
        """Whether tables are restored and partitions are read, or there are none for us."""
        return (bool(self._consumer().books) or self.faust.unassigned) and not self.faust.rebalancing

    async def _keep(self) -> None:
        self._producer.start()
        while True:
            self.transport.touch()
            await asyncio.sleep(_TOUCH_S)
