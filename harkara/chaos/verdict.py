"""Compares what is left after a flow with what must be: every line it returns is a broken promise."""

from collections import Counter, defaultdict
from collections.abc import Iterator

import msgspec
from msgspec import Struct

from connectors.clickhouse.rows import delivery_uuid
from harkara.chaos.evidence import Evidence
from harkara.chaos.expected import DELIVER, TENANT, Admitted, Expected, Reference, known_of, origin_of
from harkara.chaos.load import AFTER_OPT_OUT, FLOW
from harkara.chaos.settled import faults_of_delivery, is_settled
from streams.ids import key_hash, partition_of
from streams.reasons import Reason
from streams.records.decision import Decision, Deliver
from streams.records.state import Admission
from streams.statuses import FINAL, Status

_SHOWN = 5


class Verdict(Struct, frozen=True):
    """`broken`: promise -> examples of how it was broken; empty when all hold."""

    broken: dict[str, list[str]]
    figures: dict[str, int]

    @property
    def holds(self) -> bool:
        return not self.broken


def judge(evidence: Evidence, partitions: int) -> Verdict:
    """Return the verdict over all flows of a pipeline."""
    broken: dict[str, list[str]] = defaultdict(list)
    counts: Counter[str] = Counter()
    expected = _expect(evidence, partitions, broken)
    decided: dict[str, Decision] = {}
    for promise, detail in _checks(evidence, expected, decided):
        counts[promise] += 1
        if len(broken[promise]) < _SHOWN:
            broken[promise].append(detail)
    for promise, count in counts.items():
        if count > _SHOWN:
            broken[promise].append(f"and {count - _SHOWN} more")
    return Verdict(dict(broken), _figures(evidence, expected))


def _expect(evidence: Evidence, partitions: int, broken: dict[str, list[str]]) -> Expected:
    """Let the reference read all fit records at home; say which of ours were refused or never came home."""
    refused = {(r.topic, r.partition, r.offset): r.reason for r in evidence.rejected}
    refused |= {(r.topic, r.partition, r.offset): r.reason for r in evidence.dead}
    first_ms = {place: rows[0].first_ms for place, rows in evidence.admissions.items()}
    reference = Reference(
        known_of(evidence.profiles), lambda user, key: first_ms.get((user, key_hash(TENANT, key)), 0)
    )
    came_home = {origin_of(record) for record in evidence.ingest}
    for record in evidence.ingest:
        place = (record.topic, record.partition, record.offset)
        origin = f"{record.topic}/{record.partition}/{record.offset}"
        reason = refused.get(place)
        if record.key and partition_of(record.key, partitions) != record.partition:
            if origin not in came_home:
                broken["a record on a foreign partition comes home"].append(origin)
        elif reason in (None, Reason.KEY_REUSED):
            reference.read(record)
        elif _source_of(record.value) in (FLOW, AFTER_OPT_OUT):
            broken["a fit event is not refused"].append(f"{origin}: {reason}")
    for place in reference.expected.reused:
        if refused.get(place) != Reason.KEY_REUSED:
            broken["a reused key is refused"].append(f"{place}: {refused.get(place)}")
    for place, reason in refused.items():
        if reason == Reason.KEY_REUSED and place not in reference.expected.reused:
            broken["only a reused key is refused as one"].append(str(place))
    return reference.expected


def _checks(
    evidence: Evidence, expected: Expected, decided: dict[str, Decision]
) -> Iterator[tuple[str, str]]:
    yield from _admissions(evidence, expected, decided)
    yield from _duplicates(evidence, expected)
    yield from _words(evidence)
    events = defaultdict(list)
    for event in evidence.events:
        if event.status is not Status.DUPLICATE:
            events[event.delivery_id].append(event)
    calls = defaultdict(list)
    for entry in evidence.ledger:
        calls[entry.delivery_id].append(entry)
    queued = {delivery.delivery_id for delivery in evidence.deliveries}
    waiting = {row.partition(".")[0] for row in evidence.waiting}
    for own, decision in decided.items():
        claim = evidence.claims.get(own)
        for promise in faults_of_delivery(decision, events[own], calls[own], claim, own in queued):
            yield promise, own
        if not is_settled(events[own], claim) and own not in waiting:
            yield "every delivery is settled, or waits in the schedule", own
    for own in calls.keys() - decided.keys():
        yield "nothing is sent that nobody decided", own or "a call without a delivery id"
    facts = {(delivery_uuid(e.delivery_id), e.status, e.attempt, e.seq) for e in evidence.events}
    if len(facts) != evidence.facts_stored:
        yield "every fact is in ClickHouse once", f"{evidence.facts_stored} of {len(facts)}"


def _admissions(
    evidence: Evidence, expected: Expected, decided: dict[str, Decision]
) -> Iterator[tuple[str, str]]:
    """Each event is decided once, as the reference says, and never otherwise later."""
    left: set[str] = set()
    for (user, key), admitted in expected.admitted.items():
        rows = evidence.admissions.get((user, key_hash(TENANT, key)))
        if not rows:
            yield "no admitted event is lost", f"{user} {key}"
            continue
        first, name = rows[0], f"{user} {key}"
        if first.source.position != admitted.source:
            yield "the first copy is the one that counts", name
        if any(_recorded(row) != _recorded(first) for row in rows):
            yield "a recorded decision never changes", name
        decisions = {decision.target.delivery_id: decision for decision in first.decisions}
        decided.update(decisions)
        yield from _compared(name, user, admitted, decisions, left)
    known = {(user, key_hash(TENANT, key)) for user, key in expected.admitted}
    for user, digest in evidence.admissions.keys() - known:
        yield "nothing is admitted that nobody wrote", f"{user} {digest.hex()}"


def _recorded(row: Admission) -> tuple[object, ...]:
    return row.source, row.decisions, row.first_ms


def _compared(
    name: str, user: str, admitted: Admitted, decisions: dict[str, Decision], left: set[str]
) -> Iterator[tuple[str, str]]:
    if decisions.keys() != admitted.deliveries.keys():
        yield "each event makes its deliveries, with their ids", name
        return
    for own, allowed in admitted.deliveries.items():
        decision = decisions[own]
        said = DELIVER if isinstance(decision, Deliver) else decision.reason
        if said not in allowed:
            yield "each decision is the reference's", f"{name}: {said}, not {' or '.join(sorted(allowed))}"
        if admitted.is_offer and said == Reason.OPTED_OUT:
            left.add(user)
        elif admitted.is_offer and user in left:
            yield "an opt-out is never forgotten", name


def _duplicates(evidence: Evidence, expected: Expected) -> Iterator[tuple[str, str]]:
    told = {e.delivery_id for e in evidence.events if e.status is Status.DUPLICATE}
    wanted = {f"{topic}/{partition}/{offset}" for topic, partition, offset in expected.duplicates}
    for place in wanted - told:
        yield "every copy is told as a duplicate", place
    for place in told - wanted:
        yield "only a copy is told as a duplicate", place


def _words(evidence: Evidence) -> Iterator[tuple[str, str]]:
    """What is written again says the same again."""
    said: dict[tuple[str, ...], tuple[object, ...]] = {}
    for event in evidence.events:
        fact = (event.delivery_id, event.status, str(event.attempt), str(event.seq))
        words = (
            event.notification_id, event.reason, event.rule, event.until_ms, event.error_code,
            event.provider_message_id, event.cohort_at_ms, event.src_offset,
        )  # fmt: skip
        if said.setdefault(fact, words) != words:
            yield "a repeated fact says the same", " ".join(fact)
    written: dict[tuple[str, int, int], object] = {}
    for delivery in evidence.deliveries:
        order = (delivery.delivery_id, delivery.attempt, delivery.decided_at_ms)
        if written.setdefault(order, delivery) != delivery:
            yield "a repeated delivery says the same", delivery.delivery_id


def _source_of(value: bytes | None) -> str:
    try:
        event = msgspec.json.decode(value or b"")
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ""
    return str(event.get("source", "")) if isinstance(event, dict) else ""


def _figures(evidence: Evidence, expected: Expected) -> dict[str, int]:
    ids = {delivery for admitted in expected.admitted.values() for delivery in admitted.deliveries}
    accepted = Counter(entry.delivery_id for entry in evidence.ledger if entry.accepted)
    unknown = {
        (e.delivery_id, e.attempt, e.error_code) for e in evidence.events if e.status is Status.UNKNOWN
    }
    settled = {e.delivery_id for e in evidence.events if e.status in FINAL}
    return {
        "events": len(evidence.ingest),
        "admitted": len(expected.admitted),
        "duplicates": len(expected.duplicates),
        "refused": len({(r.topic, r.partition, r.offset) for r in evidence.rejected}),
        "deliveries": len(ids),
        "sent": len(accepted),
        "sent_twice": sum(count > 1 for count in accepted.values()),
        "unknown": len(unknown),
        "lost_claims": sum(code == "lost_claim" for *_, code in unknown),
        "pending": len(ids - settled),
    }
