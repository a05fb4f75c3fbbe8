"""Refuses to start on a Faust or aiokafka whose private names we build on have changed."""

import importlib
from importlib.metadata import version
from typing import Any

from streams.errors import TransportChanged

#: Distribution -> the only version this transport was proven with.
PINS = {"faust-streaming": "0.15.3", "mode-streaming": "0.7.1", "aiokafka": "0.14.0", "rocksdict": "0.3.29"}

#: "module:Class" -> methods it must have, or names its `__init__` must set.
NAMES: dict[str, tuple[str, ...]] = {
    "faust.transport.drivers.aiokafka:Consumer": (
        *("_new_consumer_thread", "_commit", "seek_to_committed", "highwaters", "consumer_stopped_errors"),
    ),
    "faust.transport.consumer:Consumer": (
        *("_drain_messages", "_get_active_partitions", "track_message", "stop_flow", "resume_flow"),
        *("force_commit", "commit_and_end_transactions", "wait_empty", "perform_seek"),
        *(
            "on_partitions_revoked",
            "on_partitions_assigned",
            "flow_active",
            "can_resume_flow",
            "suspend_flow",
        ),
    ),
    "faust.transport.drivers.aiokafka:AIOKafkaConsumerThread": (
        *("_create_worker_consumer", "_ensure_consumer", "on_start", "call_thread"),
    ),
    "aiokafka.consumer.consumer:AIOKafkaConsumer": (
        *("_closed", "_fetcher", "_coordinator", "_subscription", "end_offsets", "beginning_offsets"),
    ),
    "aiokafka.consumer.fetcher:Fetcher": (
        *("fetched_records", "_create_fetch_waiter", "_records", "_closed", "_fetch_task", "_subscriptions"),
    ),
    "aiokafka.consumer.group_coordinator:GroupCoordinator": (
        *("_send_req", "check_errors", "_on_join_complete", "_start_heartbeat_task"),
    ),
    "aiokafka.consumer.subscription_state:SubscriptionState": (
        *("fetch_context", "reassignment_in_progress", "subscription"),
    ),
    "aiokafka.consumer.subscription_state:TopicPartitionState": ("has_valid_position", "position"),
    "faust.tables.table:Table": ("apply_changelog_batch", "on_rebalance"),
    "faust.stores.rocksdb:Store": ("_db_for_partition", "_dbs", "partition_path", "offset_key"),
    "faust.tables.manager:TableManager": ("changelog_queue", "changelog_topics", "recovery"),
    "faust.tables.recovery:Recovery": (
        *("flush_buffers", "_add", "revoke", "on_recovery_completed", "active_offsets", "active_highwaters"),
    ),
}


def selftest() -> None:
    """Raise TransportChanged, naming what changed, unless everything we build on is as proven."""
    for distribution, wanted in PINS.items():
        found = version(distribution)
        if found != wanted:
            raise TransportChanged(f"{distribution} is {found}, this transport was proven with {wanted} only")
    for place, names in NAMES.items():
        module, _, name = place.partition(":")
        owner = getattr(importlib.import_module(module), name, None)
        missing = [name for name in names if not _has(owner, name)]
        if owner is None or missing:
            raise TransportChanged(f"{place} has no {', '.join(missing) or name}")


def _has(owner: Any, name: str) -> bool:
    made = getattr(getattr(owner, "__init__", None), "__code__", None)
    return hasattr(owner, name) or (made is not None and name in made.co_names)
