"""What ClickHouse says: each delivery's present standing, from rows alone."""

from dataclasses import dataclass, field
from typing import Final

from clickhouse_connect.driver.client import Client

from connectors.clickhouse.migrations import DATABASE
from connectors.clickhouse.stages import Standing
from harkara.audit.cut import INGESTED, Cut
from harkara.audit.places import coordinate
from streams.topics import BY_NAME

#: Only what came from records that are still on the log: the rest cannot be compared.
_IN_SCOPE: Final = (
    "s.src_offset >= transform(toUInt64(s.src_topic) * 65536 + s.src_partition,"
    " {places:Array(UInt64)}, {starts:Array(UInt64)}, toUInt64(18446744073709551615))"
)
_DELIVERIES: Final = (
    "SELECT toString(delivery_id), st.weight, st.attempt, st.unknown, st.moment, st.rank, messages, topic,"
    " partition, src_offset FROM (SELECT s.delivery_id AS delivery_id, max(s.standing) AS st,"
    " length(groupUniqArrayArray(s.messages)) AS messages, max(s.src_topic) AS topic,"
    " max(s.src_partition) AS partition, max(s.src_offset) AS src_offset"
    " FROM {db}.delivery_state AS s WHERE {scope} GROUP BY s.delivery_id)"
)
_DUPLICATES: Final = (
    "SELECT src_topic, src_partition, src_offset FROM {db}.delivery_event AS s FINAL"
    " WHERE s.stage = 'duplicate' AND {scope}"
)


@dataclass
class InClickHouse:
    """All deliveries from sources still on the log."""

    standings: dict[str, Standing] = field(default_factory=dict)
    sources: dict[str, int] = field(default_factory=dict)  # delivery -> coordinates of its source
    duplicates: set[int] = field(default_factory=set)
    messages: dict[str, int] = field(
        default_factory=dict
    )  # deliveries with more than one provider id -> how many


def read_stored(client: Client, cut: Cut, database: str = DATABASE) -> InClickHouse:
    """Read every delivery of the cut's sources, and repeats of events."""
    places = cut.places(INGESTED)
    named = {
        "places": [BY_NAME[topic].number * 65536 + partition for topic, partition in places],
        "starts": [cut.starts[place] for place in places],
    }
    found = InClickHouse()
    for name, *standing, messages, topic, partition, offset in _rows(client, _DELIVERIES, named, database):
        found.standings[name] = Standing(*standing)
        found.sources[name] = coordinate(topic, partition, offset)
        if messages > 1:
            found.messages[name] = messages
    for topic, partition, offset in _rows(client, _DUPLICATES, named, database):
        found.duplicates.add(coordinate(topic, partition, offset))
    return found


def _rows(client: Client, query: str, named: dict[str, list[int]], database: str):  # type: ignore[no-untyped-def]  # rows of any kind
    text = query.replace("{db}", database).replace("{scope}", _IN_SCOPE)
    with client.query_rows_stream(text, named) as stream:
        yield from stream
