"""Delivery events as rows: one Arrow column for each column of `delivery_event`, built at once.

No user id, address or text leaves this module: the user becomes a keyed hash.
"""

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Any, Final
from uuid import UUID

import pyarrow as pa
import xxhash

from connectors.clickhouse.stages import RANKS
from streams.ids import address_hash
from streams.records.delivery_event import DeliveryEvent

Column = Callable[[Sequence[DeliveryEvent]], Any]

_TIME: Final = pa.timestamp("ms", tz="UTC")


def _plain(field: str, kind: Any) -> Column:
    read = attrgetter(field)
    return lambda events: pa.array(list(map(read, events)), kind)


#: Columns in the order they are sent, without the user's hash; the rest have defaults.
_COLUMNS: Final[dict[str, Column]] = {
    "tenant": _plain("tenant", pa.string()),
    "campaign_id": _plain("campaign_id", pa.string()),
    "channel": _plain("channel", pa.string()),
    "cohort_at": _plain("cohort_at_ms", _TIME),
    "delivery_id": lambda events: pa.array([_uuid_bytes(e.delivery_id) for e in events], pa.binary(16)),
    "stage": lambda events: pa.array([RANKS[e.status] for e in events], pa.int8()),
    "attempt": _plain("attempt", pa.uint8()),
    "seq": _plain("seq", pa.uint64()),
    "occurred_at": _plain("occurred_at_ms", _TIME),
    "notification_id": _plain("notification_id", pa.string()),
    "type": _plain("type", pa.string()),
    "category": _plain("category", pa.string()),
    "lane": _plain("lane", pa.string()),
    "provider": _plain("provider", pa.string()),
    "template": _plain("template", pa.string()),
    "version": _plain("version", pa.uint32()),
    "rule": _plain("rule", pa.string()),
    "reason": _plain("reason", pa.string()),
    "error_code": _plain("error_code", pa.string()),
    "until_at": _plain("until_ms", _TIME),
    "provider_message_id": _plain("provider_message_id", pa.string()),
    "cost_micros": _plain("cost_micros", pa.int64()),
    "currency": _plain("currency", pa.string()),
    "segments": _plain("segments", pa.uint8()),
    "latency_ms": _plain("latency_ms", pa.uint32()),
    "src_topic": _plain("src_topic", pa.uint8()),
    "src_partition": _plain("src_partition", pa.uint16()),
    "src_offset": _plain("src_offset", pa.uint64()),
}


def table_of(events: Sequence[DeliveryEvent], hash_key: bytes) -> Any:
    """Return the events as an Arrow table for `delivery_event`.

    Raises ValueError or OverflowError when a value does not fit its column (`pa.ArrowInvalid` is
    a ValueError); which event it was, the caller finds by halving.
    """
    columns = {name: column(events) for name, column in _COLUMNS.items()}
    columns["user_hash"] = pa.array(_hashes(events, hash_key), pa.uint64())
    return pa.table(columns)


def delivery_uuid(delivery_id: str) -> UUID:
    """Return the delivery's id as analytics stores it.

    A duplicate made no delivery; its id names its source coordinates, and a UUID is derived from it.
    """
    return UUID(bytes=_uuid_bytes(delivery_id))


def _uuid_bytes(delivery_id: str) -> bytes:
    if len(delivery_id) == 36:
        try:
            return bytes.fromhex(delivery_id.replace("-", ""))
        except ValueError:
            pass  # 36 characters, but not a UUID: derived like any other name
    return xxhash.xxh3_128_digest(delivery_id.encode())


def _hashes(events: Iterable[DeliveryEvent], hash_key: bytes) -> list[int]:
    """Users repeat within a batch (a delivery has several events), so each is hashed once."""
    known: dict[str, int] = {}
    hashes = []
    for event in events:
        user = event.user_id
        value = known.get(user)
        if value is None:
            value = known[user] = address_hash(hash_key, user)
        hashes.append(value)
    return hashes
