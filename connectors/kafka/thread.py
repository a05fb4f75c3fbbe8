"""The thread that talks to Kafka for one app: it fetches in reading order and beats the heart."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import aiokafka
from aiokafka import ConsumerRecord, TopicPartition
from aiokafka.errors import ConsumerStoppedError
from faust.transport.drivers.aiokafka import AIOKafkaConsumerThread, server_list

from connectors.kafka.fence import Fence, boot_seconds
from connectors.kafka.plan import Ask, ReadPlan, Tp


@dataclass(frozen=True)
class Poll:
    """What one poll brought. `stable_ends` were asked for after the records were fetched."""

    records: list[tuple[Tp, list[ConsumerRecord]]]
    stable_ends: dict[Tp, int]
    positions: dict[Tp, int]


class BlockConsumerThread(AIOKafkaConsumerThread):
    """Reads committed records only, at most one block a partition a poll, higher ranks first."""

    plan: ReadPlan
    fence: Fence

    def _create_worker_consumer(self, transport: Any) -> aiokafka.AIOKafkaConsumer:
        conf = self.app.conf
        self._assignor = self.app.assignor
        return aiokafka.AIOKafkaConsumer(
            client_id=conf.broker_client_id,
            group_id=conf.id,
            group_instance_id=conf.consumer_group_instance_id,
            bootstrap_servers=server_list(transport.url, transport.default_port),
            partition_assignment_strategy=[self._assignor],
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            isolation_level="read_committed",
            max_poll_records=self.plan.block_records,
            max_poll_interval_ms=int(conf.broker_max_poll_interval * 1000),
            max_partition_fetch_bytes=conf.consumer_max_fetch_size,
            fetch_max_wait_ms=self.plan.fetch_wait_ms,
            request_timeout_ms=int(conf.broker_request_timeout * 1000),
            session_timeout_ms=int(conf.broker_session_timeout * 1000),
            rebalance_timeout_ms=int(conf.broker_rebalance_timeout * 1000),
            heartbeat_interval_ms=int(conf.broker_heartbeat_interval * 1000),
            metadata_max_age_ms=conf.consumer_metadata_max_age_ms,
            connections_max_idle_ms=conf.consumer_connections_max_idle_ms,
        )

    async def on_start(self) -> None:
        await super().on_start()
        coordinator = self._ensure_consumer()._coordinator
        coordinator._do_heartbeat = self._dated(coordinator._do_heartbeat)

    def _dated(self, beat: Callable[[], Awaitable[bool]]) -> Callable[[], Awaitable[bool]]:
        async def do_heartbeat() -> bool:
            sent_s = boot_seconds()
            accepted = await beat()
            if accepted:
                self.fence.renew(sent_s)
            return accepted

        return do_heartbeat

    async def poll(
        self, wanted: list[Ask], gates: Mapping[Tp, Tp], known: Iterable[Tp], timeout_s: float
    ) -> Poll:
        """Fetch blocks for `wanted`, and the stable ends of the gates of what came."""
        poll: Poll = await self.call_thread(self._poll, wanted, gates, known, timeout_s)
        return poll

    async def _poll(
        self, wanted: list[Ask], gates: Mapping[Tp, Tp], known: Iterable[Tp], timeout_s: float
    ) -> Poll:
        consumer = self._ensure_consumer()
        fetcher = consumer._fetcher
        if consumer._closed or fetcher._closed:
            raise ConsumerStoppedError
        consumer._coordinator.check_errors()
        if fetcher._subscriptions.reassignment_in_progress:
            await asyncio.sleep(min(timeout_s, 0.05))
            return Poll([], {}, {})
        with fetcher._subscriptions.fetch_context():
            records = await self._collect(fetcher, wanted)
            if not records and timeout_s > 0:
                waiter = fetcher._create_fetch_waiter()
                await asyncio.wait([waiter], timeout=timeout_s)
                if not waiter.done():
                    waiter.cancel()
                records = await self._collect(fetcher, wanted)
        asked = {gates[tp] for tp, _ in records if tp in gates}
        ends: dict[Tp, int] = {}
        if asked:
            found = await consumer.end_offsets([TopicPartition(*tp) for tp in asked])
            ends = {(tp.topic, tp.partition): end for tp, end in found.items()}
        return Poll(records, ends, self._positions(known))

    async def _collect(self, fetcher: Any, wanted: list[Ask]) -> list[tuple[Tp, list[ConsumerRecord]]]:
        taken: list[tuple[Tp, list[ConsumerRecord]]] = []
        for ask in wanted:
            room = min(ask.blocks, ask.blocks_below_work) if taken else ask.blocks
            allowed = {TopicPartition(*tp) for tp in ask.partitions}
            for tp in [tp for tp in fetcher._records if tp in allowed]:
                if room == 0:
                    break
                got = await fetcher.fetched_records([tp], timeout=0, max_records=self.plan.block_records)
                for records in got.values():
                    taken.append(((tp.topic, tp.partition), records))
                    room -= 1
        return taken

    def _positions(self, known: Iterable[Tp]) -> dict[Tp, int]:
        subscription = self._ensure_consumer()._subscription.subscription
        assignment = subscription.assignment if subscription is not None else None
        if assignment is None:
            return {}
        positions: dict[Tp, int] = {}
        for tp in known:
            state = assignment.state_value(TopicPartition(*tp))
            if state is not None and state.has_valid_position:
                positions[tp] = state.position
        return positions

    async def stable_ends(self, tps: Iterable[Tp]) -> dict[Tp, int]:
        """Return the last stable offset of each partition, asked for now."""
        wanted = [TopicPartition(*tp) for tp in tps]
        found = await self.call_thread(self._ensure_consumer().end_offsets, wanted)
        return {(tp.topic, tp.partition): end for tp, end in found.items()}

    async def log_starts(self, tps: Iterable[Tp]) -> dict[Tp, int]:
        """Return the first offset that still exists in each partition."""
        wanted = [TopicPartition(*tp) for tp in tps]
        found = await self.call_thread(self._ensure_consumer().beginning_offsets, wanted)
        return {(tp.topic, tp.partition): start for tp, start in found.items()}
