"""What the roles hold, read from their changelogs: first results, what waits, claims, queues."""

from dataclasses import dataclass, field

from harkara.audit.cut import CLAIM_LOGS, LANE_TOPICS, RETURNED, STATE, Cut
from harkara.audit.feed import Sends, read_seen
from harkara.audit.places import coordinate, origin
from streams.records.codec import (
    read_delivery,
    read_followup,
    state_admission,
    state_claim,
    state_waiting,
)
from streams.records.decision import Suppress
from streams.records.delivery import Delivery
from streams.records.followup import Reconsider
from streams.records.state import Admission
from streams.statuses import Status
from tables.keys import DEDUP, WAITING


@dataclass
class State:
    """What is kept at the cut; deliveries by id."""

    admitted: set[int] = field(default_factory=set)  # sources that have, or had, a first result
    promised: dict[str, int] = field(default_factory=dict)  # deliveries of first results -> their source
    suppressed: set[str] = field(default_factory=set)  # of these, by the first result itself
    first_results: set[bytes] = field(default_factory=set)  # rows there now
    let_go: dict[bytes, int] = field(default_factory=dict)  # rows that left -> end of their window, 0 unknown
    waiting: dict[str, int] = field(default_factory=dict)  # -> coordinates of the source
    queued: dict[str, int] = field(default_factory=dict)  # not acknowledged by a sender
    returning: dict[str, int] = field(default_factory=dict)  # not acknowledged by the router
    calling: set[str] = field(default_factory=set)  # open claims
    settled: dict[str, Status] = field(default_factory=dict)  # closed claims: how the last attempt ended
    claimed: set[str] = field(default_factory=set)  # ever claimed
    sends: Sends = field(default_factory=Sends)

    @property
    def held(self) -> set[str]:
        """Deliveries about which something will still happen."""
        return self.waiting.keys() | self.queued.keys() | self.returning.keys() | self.calling


def read_state(cut: Cut) -> State:
    """Read the router's and the senders' changelogs and queues up to the cut."""
    found = State()
    _read_router(cut, found)
    _read_claims(cut, found)
    for record in cut.unacknowledged(LANE_TOPICS):
        delivery = read_delivery(record.value or b"")
        found.queued[delivery.delivery_id] = _source(delivery)
    for record in cut.unacknowledged(RETURNED):
        match read_followup(record.value or b""):
            case Reconsider(delivery=delivery):
                found.returning[delivery.delivery_id] = _source(delivery)
    return found


def _read_router(cut: Cut, found: State) -> None:
    windows: dict[bytes, int] = {}
    waiting: dict[bytes, bytes] = {}
    for record in cut.records(STATE):
        key, value = record.key, record.value
        if key.startswith(DEDUP):
            if value is None:
                found.let_go[key] = windows.get(key, 0)
                found.first_results.discard(key)
                continue
            admission = state_admission(value)
            windows[key] = admission.until_ms
            found.first_results.add(key)
            found.let_go.pop(key, None)
            _admit(admission, found)
        elif key.startswith(WAITING):
            if value is None:
                waiting.pop(key, None)
            else:
                waiting[key] = value
    for value in waiting.values():
        delivery = state_waiting(value).delivery
        found.waiting[delivery.delivery_id] = _source(delivery)


def _admit(admission: Admission, found: State) -> None:
    position = admission.source.position
    own = coordinate(admission.source.topic, admission.src_partition, admission.offset)
    source = origin(position) if isinstance(position, str) else None
    found.admitted.add(own if source is None else source)
    for decision in admission.decisions:
        name = decision.target.delivery_id
        found.promised[name] = own
        if isinstance(decision, Suppress):
            found.suppressed.add(name)
        else:
            found.suppressed.discard(name)


def _read_claims(cut: Cut, found: State) -> None:
    for record in cut.records(CLAIM_LOGS):
        name = record.key.decode()
        found.claimed.add(name)
        if record.value is None:
            found.calling.discard(name)
            found.settled.pop(name, None)
            continue
        claim = state_claim(record.value)
        if claim.open:
            found.calling.add(name)
            found.settled.pop(name, None)
            continue
        found.calling.discard(name)
        if claim.event:
            event = read_seen(claim.event)
            found.sends.note(event)
            if claim.final:
                found.settled[name] = event.status


def _source(delivery: Delivery) -> int:
    return coordinate(delivery.src_topic, delivery.src_partition, delivery.src_offset)
