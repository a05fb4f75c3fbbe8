"""The thread that talks to Kafka for one app: it fetches in reading order and beats the heart."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import aiokafka
from aiokafka import ConsumerRecord, TopicPartition
from aiokafka.errors import ConsumerStoppedError, NoError, RebalanceInProgressError
from aiokafka.protocol.group import HeartbeatRequest, SyncGroupRequest
from faust.transport.drivers.aiokafka import AIOKafkaConsumerThread, server_list

from connectors.kafka.fence import Fence, boot_seconds
from connectors.kafka.plan import Ask, ReadPlan, Tp

#: Answers of the group by which it still counts on us: to a heartbeat, and to taking an assignment.
_ACCEPTED: dict[type[Any], frozenset[int]] = {
    HeartbeatRequest: frozenset({NoError.errno, RebalanceInProgressError.errno}),
    SyncGroupRequest: frozenset({NoError.errno}),
}


@dataclass(frozen=True)
class Poll:
    """What one poll brought."""

    records: list[tuple[Tp, list[ConsumerRecord]]]
    stable_ends: dict[Tp, int]  # of the gates of what came, asked for after it was fetched
    log_starts: dict[Tp, int]  # of what came with offsets missing before it, asked for likewise
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
        coordinator._send_req = self._dated(coordinator._send_req)
        coordinator._on_join_complete = self._beating(coordinator, coordinator._on_join_complete)

    def _dated(self, send: Callable[[Any], Awaitable[Any]]) -> Callable[[Any], Awaitable[Any]]:
        async def send_request(request: Any) -> Any:
            sent_s = boot_seconds()
            response = await send(request)
            accepted = _ACCEPTED.get(type(request))
            if accepted is not None and response.error_code in accepted:
                self.fence.renew(sent_s)
            return response

        return send_request

    def _beating(self, coordinator: Any, join_complete: Callable[..., Awaitable[None]]) -> Any:
        """Beat the heart while an assignment is taken in: opening many stores may last a session."""

        async def on_join_complete(*args: Any) -> None:
            coordinator._start_heartbeat_task()
            await join_complete(*args)

        return on_join_complete

    async def poll(
        self, wanted: list[Ask], gates: Mapping[Tp, Tp], expected: Mapping[Tp, int | None], timeout_s: float
    ) -> Poll:
        """Fetch blocks for `wanted`, with what their gates and gaps call for.

        `expected` are the next offsets of what is read, None where not known yet. Raises what the
        consumer's own tasks died of; asking for nothing shows the group that we live.
        """
        poll: Poll = await self.call_thread(self._poll, wanted, gates, expected, timeout_s)
        return poll

    async def _poll(
        self, wanted: list[Ask], gates: Mapping[Tp, Tp], expected: Mapping[Tp, int | None], timeout_s: float
    ) -> Poll:
        consumer = self._ensure_consumer()
        fetcher = consumer._fetcher
        if consumer._closed or fetcher._closed:
            raise ConsumerStoppedError
        consumer._coordinator.check_errors()
        if fetcher._fetch_task.done():
            fetcher._fetch_task.result()
            raise ConsumerStoppedError
        if fetcher._subscriptions.reassignment_in_progress:
            await asyncio.sleep(min(timeout_s, 0.05))
            return Poll([], {}, {}, {})
        with fetcher._subscriptions.fetch_context():
            records = await self._collect(fetcher, wanted)
            if not records and timeout_s > 0:
                waiter = fetcher._create_fetch_waiter()
                await asyncio.wait([waiter], timeout=timeout_s)
                if not waiter.done():
                    waiter.cancel()
                records = await self._collect(fetcher, wanted)
        asked = {gates[tp] for tp, _ in records if tp in gates}
        gaps = [tp for tp, found in records if _lacks(expected.get(tp), found[0].offset)]
        return Poll(
            records,
            await self._stable_ends(asked) if asked else {},
            await self._log_starts(gaps) if gaps else {},
            self._positions({*expected, *(tp for ask in wanted for tp in ask.partitions)}),
        )

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
        found: dict[Tp, int] = await self.call_thread(self._stable_ends, tps)
        return found

    async def _stable_ends(self, tps: Iterable[Tp]) -> dict[Tp, int]:
        found = await self._ensure_consumer().end_offsets([TopicPartition(*tp) for tp in tps])
        return {(tp.topic, tp.partition): end for tp, end in found.items()}

    async def log_starts(self, tps: Iterable[Tp]) -> dict[Tp, int]:
        """Return the first offset that still exists in each partition."""
        found: dict[Tp, int] = await self.call_thread(self._log_starts, tps)
        return found

    async def _log_starts(self, tps: Iterable[Tp]) -> dict[Tp, int]:
        found = await self._ensure_consumer().beginning_offsets([TopicPartition(*tp) for tp in tps])
        return {(tp.topic, tp.partition): start for tp, start in found.items()}


def _lacks(expected: int | None, first: int) -> bool:
    return expected is not None and first > expected
