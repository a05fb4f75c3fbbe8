"""What ClickHouse knows of some messages: every fact, oldest first."""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from clickhouse_connect.driver.client import Client
from msgspec import Struct

from connectors.clickhouse.migrations import DATABASE
from harkara.questions.story import Coordinates, Fact, Repeat
from streams.statuses import Status
from streams.topics import TOPICS

_NAMES: Final = {topic.number: topic.full_name for topic in TOPICS}
_FACTS: Final = (
    "SELECT toString(delivery_id), notification_id, tenant, type, lane, channel, status,"
    " toUnixTimestamp64Milli(occurred_at), attempt, provider, rule, reason, error_code,"
    " toUnixTimestamp64Milli(until_at), provider_message_id, latency_ms,"  # in the order of Fact's fields
    " src_topic, src_partition, src_offset"
    " FROM {db}.v_timeline WHERE {which} ORDER BY occurred_at, attempt, status"
)


class Known(Struct):
    """One delivery as ClickHouse knows it."""

    delivery_id: str
    notification_id: str
    tenant: str
    type: str
    lane: str
    channel: str
    partition: int  # of its source: where its user's state lies
    facts: list[Fact]


class History(Struct):
    """What ClickHouse knows: deliveries by id, and repeats of their events."""

    deliveries: dict[str, Known]
    duplicates: list[Repeat]


def of_ids(client: Client, ids: Sequence[str], database: str = DATABASE) -> History:
    """Return what is known of these notification or delivery ids."""
    found = History({}, [])
    # Two questions, since an OR over both would use the index of neither.
    _add(found, client, "notification_id IN {ids:Array(String)}", {"ids": list(ids)}, database)
    uuids = [one for one in ids if _is_uuid(one)]
    if uuids:
        _add(found, client, "delivery_id IN {uuids:Array(UUID)}", {"uuids": uuids}, database)
    return found


def of_user(client: Client, user_hash: int, last: int, database: str = DATABASE) -> History:
    """Return what is known of a user's last notifications, as many as asked for."""
    which = (
        "user_hash = {user:UInt64} AND notification_id IN (SELECT notification_id FROM {db}.v_timeline"
        " WHERE user_hash = {user:UInt64} GROUP BY notification_id"
        " ORDER BY max(cohort_at) DESC LIMIT {last:UInt32})"
    )
    found = History({}, [])
    _add(found, client, which, {"user": user_hash, "last": last}, database)
    return found


def _add(found: History, client: Client, which: str, named: Mapping[str, Any], database: str) -> None:
    query = _FACTS.replace("{which}", which).replace("{db}", database)
    told = set(found.deliveries)
    for row in client.query(query, dict(named)).result_rows:
        delivery_id, notification_id, tenant, kind, lane, channel, status, at_ms, *facts = row
        *facts, src_topic, src_partition, src_offset = facts
        if delivery_id in told:
            continue
        if status == Status.DUPLICATE:
            source = Coordinates(_NAMES.get(src_topic, str(src_topic)), src_partition, src_offset)
            found.duplicates.append(Repeat(notification_id, at_ms, source))
            continue
        known = found.deliveries.get(delivery_id)
        if known is None:
            known = Known(delivery_id, notification_id, tenant, kind, lane, channel, src_partition, [])
            found.deliveries[delivery_id] = known
        known.facts.append(Fact(at_ms, Status(status), *facts))


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True
