"""Every event that arrived: which record is which source, and which are explained without a delivery."""

from dataclasses import dataclass, field

from msgspec import DecodeError, Struct
from msgspec.json import Decoder

from connectors.kafka.scan import Stored
from harkara.audit.cut import INGESTED, REFUSED, Cut
from harkara.audit.places import coordinate, origin
from streams.ids import key_hash
from streams.policy.admission import ORIGIN_HEADER
from streams.records.codec import read_dead_letter, read_rejection
from streams.topics import BY_NAME, REJECTED
from tables.keys import dedup_key

TENANT = "default"


class _Body(Struct):
    """The little of an event that names its place among first results."""

    notification_id: str = ""
    idempotency_key: str = ""


_read_body = Decoder(_Body).decode


@dataclass
class Sources:
    """What arrived between the log's start and the cut.

    A source is named by where it came first; a re-keyed copy is the same source, and `alias` tells
    its own coordinates from it.
    """

    rows: dict[int, bytes] = field(default_factory=dict)  # source -> its row among first results
    undecided: set[int] = field(default_factory=set)  # no router has acknowledged it
    alias: dict[int, int] = field(default_factory=dict)  # a copy's coordinates -> the source
    refused: set[int] = field(default_factory=set)
    rekeyed: int = 0

    def named(self, coordinates: int) -> int:
        """Return the source a record at these coordinates stands for."""
        return self.alias.get(coordinates, coordinates)


def read_sources(cut: Cut) -> Sources:
    """Count every record of the ingest topics, and those that were refused or put aside."""
    found = Sources()
    for record in cut.records(INGESTED):
        own = coordinate(BY_NAME[record.topic].number, record.partition, record.offset)
        source = _origin(record) or own
        if source != own:
            found.alias[own] = source
            found.rekeyed += 1
        if source == own or source not in found.rows:
            found.rows[source] = _row(record)
        if record.offset >= cut.acknowledged((record.topic, record.partition)):
            found.undecided.add(source)
    for record in cut.records(REFUSED):
        is_rejection = record.topic == REJECTED.full_name
        told = read_rejection(record.value or b"") if is_rejection else read_dead_letter(record.value or b"")
        if told.topic in BY_NAME:
            found.refused.add(
                found.named(coordinate(BY_NAME[told.topic].number, told.partition, told.offset))
            )
    return found


def _origin(record: Stored) -> int | None:
    for name, value in record.headers:
        if name == ORIGIN_HEADER:
            return origin(value.decode("ascii", "replace"))
    return None


def _row(record: Stored) -> bytes:
    try:
        body = _read_body(record.value or b"")
    except DecodeError:
        return b""
    return dedup_key(record.key, key_hash(TENANT, body.idempotency_key or body.notification_id))
