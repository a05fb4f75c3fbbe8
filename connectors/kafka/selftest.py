"""Refuses to start on a Faust or aiokafka whose private names we override have changed."""

import importlib
from importlib.metadata import version

from streams.errors import TransportChanged

#: Distribution -> the only version this transport was proven with.
PINS = {"faust-streaming": "0.15.3", "mode-streaming": "0.7.1", "aiokafka": "0.14.0", "rocksdict": "0.3.29"}

#: "module:Class" -> attributes that must exist (methods, or names set in `__init__`).
NAMES: dict[str, tuple[str, ...]] = {
    "faust.transport.drivers.aiokafka:Consumer": ("_new_consumer_thread", "_commit", "seek_to_committed"),
    "faust.transport.consumer:Consumer": (
        "_drain_messages", "_get_active_partitions", "force_commit", "wait_empty", "perform_seek",
        "on_partitions_revoked", "on_partitions_assigned", "track_message", "stop_flow", "commit_and_end_transactions",
    ),
    "faust.transport.drivers.aiokafka:AIOKafkaConsumerThread": (
        "_create_worker_consumer", "_ensure_consumer", "on_start", "call_thread",
    ),
    "aiokafka.consumer.fetcher:Fetcher": ("fetched_records", "_create_fetch_waiter"),
    "aiokafka.consumer.group_coordinator:GroupCoordinator": ("_do_heartbeat",),
    "faust.tables.table:Table": ("apply_changelog_batch", "on_rebalance"),
    "faust.stores.rocksdb:Store": ("_db_for_partition", "partition_path", "offset_key"),
    "faust.tables.recovery:Recovery": ("flush_buffers", "_add", "on_recovery_completed"),
}  # fmt: skip


def selftest() -> None:
    """Raise TransportChanged, naming what changed, unless everything we build on is as proven."""
    for distribution, wanted in PINS.items():
        found = version(distribution)
        if found != wanted:
            raise TransportChanged(f"{distribution} is {found}, this transport was proven with {wanted} only")
    for place, attributes in NAMES.items():
        module, _, name = place.partition(":")
        owner = getattr(importlib.import_module(module), name, None)
        missing = [attribute for attribute in attributes if not hasattr(owner, attribute)]
        if owner is None or missing:
            raise TransportChanged(f"{place} has no {', '.join(missing) or name}")
