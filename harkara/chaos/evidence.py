"""What is left after a flow: every record of every topic, the providers' ledger, the rows of ClickHouse."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from connectors.clickhouse.client import connect
from connectors.kafka.scan import Scan, Stored
from connectors.simulator.entry import Entry
from harkara.embedded.pipeline import EmbeddedPipeline
from streams.records.codec import (
    read_dead_letter,
    read_delivery,
    read_delivery_event,
    read_rejection,
    state_admission,
    state_claim,
    state_row,
)
from streams.records.dead_letter import DeadLetter
from streams.records.delivery import Delivery
from streams.records.delivery_event import DeliveryEvent
from streams.records.rejection import Rejection
from streams.records.state import Admission, Claim, Row
from streams.topics import (
    ACTIVE_CHANNELS,
    CLAIMS,
    DEAD_LETTERS,
    DELIVERIES,
    DELIVERY_EVENTS,
    INGEST,
    LANES,
    PROFILES,
    REJECTED,
    ROUTER_APP,
    USER_STATE,
    changelog,
    sender_app,
)
from tables.keys import DEDUP, FIRED, ROW, parse_dedup, parse_row

_STATE = changelog(ROUTER_APP, USER_STATE)
_CLAIMS = [changelog(sender_app(channel, lane), CLAIMS) for channel in ACTIVE_CHANNELS for lane in LANES]
_SENT_OUT = [DELIVERIES[channel, lane].full_name for channel in ACTIVE_CHANNELS for lane in LANES]
_INGEST = [topic.full_name for topic in INGEST.values()]


@dataclass
class Evidence:
    """Everything, decoded; lists keep the order of their partition."""

    ingest: list[Stored] = field(default_factory=list)
    profiles: list[Stored] = field(default_factory=list)
    deliveries: list[Delivery] = field(default_factory=list)
    events: list[DeliveryEvent] = field(default_factory=list)
    rejected: list[Rejection] = field(default_factory=list)
    dead: list[DeadLetter] = field(default_factory=list)
    admissions: dict[tuple[str, bytes], list[Admission]] = field(default_factory=lambda: defaultdict(list))
    waiting: dict[str, Row] = field(default_factory=dict)  # rows of the schedule that still wait, by id
    claims: dict[str, Claim] = field(default_factory=dict)  # as they stand, by delivery
    ledger: list[Entry] = field(default_factory=list)
    facts_stored: int = 0  # different facts in ClickHouse


def collect(pipeline: EmbeddedPipeline) -> Evidence:
    """Read everything there is now."""
    evidence = Evidence()
    scan = Scan(pipeline.addresses.kafka)
    _read(scan, [*_INGEST, PROFILES.full_name], evidence)
    _read(scan, [_STATE, *_CLAIMS], evidence)
    _read(scan, [*_SENT_OUT, DELIVERY_EVENTS.full_name, REJECTED.full_name, DEAD_LETTERS.full_name], evidence)
    evidence.ledger = asyncio.run(_ledger(pipeline))
    client = connect(pipeline.addresses.clickhouse)
    counted = client.query("SELECT uniqExact(delivery_id, stage, attempt, seq) FROM harkara.delivery_event")
    evidence.facts_stored = int(counted.result_rows[0][0])
    client.close()
    return evidence


def _read(scan: Scan, topics: Sequence[str], evidence: Evidence) -> None:
    places = scan.places(topics)
    starts, ends = scan.starts(places), scan.ends(places)
    for batch in scan.read({place: (starts[place], ends[place]) for place in places}):
        for record in batch:
            add(evidence, record)


def add(evidence: Evidence, record: Stored) -> None:
    """Take one record of any topic; a partition's in their order."""
    topic, value = record.topic, record.value or b""
    if topic in _INGEST:
        evidence.ingest.append(record)
    elif topic == PROFILES.full_name:
        evidence.profiles.append(record)
    elif topic == _STATE:
        _add_state(evidence, record)
    elif topic in _CLAIMS:
        if record.value is None:
            evidence.claims.pop(record.key.decode(), None)
        else:
            evidence.claims[record.key.decode()] = state_claim(value)
    elif topic == DELIVERY_EVENTS.full_name:
        evidence.events.append(read_delivery_event(value))
    elif topic == REJECTED.full_name:
        evidence.rejected.append(read_rejection(value))
    elif topic == DEAD_LETTERS.full_name:
        evidence.dead.append(read_dead_letter(value))
    else:
        evidence.deliveries.append(read_delivery(value))


def _add_state(evidence: Evidence, record: Stored) -> None:
    key = record.key
    if key.startswith(DEDUP) and record.value is not None:
        user, key_hash = parse_dedup(key)
        evidence.admissions[user.decode(), key_hash].append(state_admission(record.value))
    elif key.startswith(ROW):
        if record.value is None:
            evidence.waiting.pop(parse_row(key), None)
        else:
            evidence.waiting[parse_row(key)] = state_row(record.value)
    elif key.startswith(FIRED):
        evidence.waiting.pop(parse_row(key), None)


async def _ledger(pipeline: EmbeddedPipeline) -> list[Entry]:
    async with pipeline.simulator() as simulator:
        return [entry async for entry in simulator.entries()]
