"""Compares what the three witnesses say; asks nobody, so it can be proved on witnesses made by hand."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, NamedTuple

from connectors.clickhouse.stages import Standing
from harkara.audit.feed import Feed
from harkara.audit.places import shown
from harkara.audit.sources import Sources
from harkara.audit.state import State
from harkara.audit.stored import InClickHouse
from streams.statuses import FINAL, Status

#: Statuses of deliveries that the provider took; parts of `sent`.
_TAKEN: Final = frozenset({Status.SENT, Status.DELIVERED, Status.READ, Status.CLICKED, Status.BOUNCED})
_NOT_BY_RULE: Final = frozenset({Status.SUPPRESSED, Status.EXPIRED, Status.CANCELLED, Status.MERGED})
#: What `accepted` is the sum of.
LAW: Final = ("sent", "failed", "expired", "suppressed", "cancelled", "merged", "unknown", "pending")


class Finding(NamedTuple):
    """One thing that does not fit; `who` is a delivery or the coordinates of a source."""

    kind: str
    who: str
    detail: str


#: Kinds of findings, each with what it means.
KINDS: Final = {
    "lost_source": "an event arrived, and no witness knows what became of it",
    "lost_delivery": "a delivery is not settled, and nobody holds it: nothing will ever happen to it",
    "missing_in_clickhouse": "Kafka or a role knows a delivery that ClickHouse has never seen",
    "clickhouse_differs": "ClickHouse and the feed disagree about where a delivery stands",
    "unknown_to_kafka": "ClickHouse knows a delivery of an event on the log that the feed never told",
    "claim_differs": "a sender's claim and ClickHouse disagree about how a delivery ended",
    "sent_without_claim": "a delivery was sent, and no sender ever claimed it",
    "still_held": "a delivery is settled, and something still waits to happen to it",
    "no_first_result": "an event was decided, and its first result is not kept: a copy would be sent again",
    "repeated_send": "a delivery was sent more than once, and no unknown outcome explains it",
}


@dataclass(frozen=True)
class Witnesses:
    """What each said at one cut."""

    now_ms: int
    feed_is_whole: bool
    sources: Sources
    feed: Feed
    state: State
    stored: InClickHouse


@dataclass
class Verdict:
    """What one comparison found."""

    counts: Counter[str] = field(default_factory=Counter)  # accepted, `LAW`, parts of sent, kinds of pending
    arrived: Counter[str] = field(default_factory=Counter)  # events: received, refused, duplicates, …
    kafka: Counter[str] = field(default_factory=Counter)  # deliveries by status: what the feed says
    clickhouse: Counter[str] = field(default_factory=Counter)  # what ClickHouse says
    state: Counter[str] = field(
        default_factory=Counter
    )  # what the roles' state says; it forgets what is over
    findings: list[Finding] = field(default_factory=list)
    duplicate_sends: int = 0

    @property
    def adds_up(self) -> bool:
        """Whether accepted is the sum of its parts, each counted."""
        return self.counts["accepted"] == sum(self.counts[part] for part in LAW)


def compare(w: Witnesses) -> Verdict:
    """Return what the witnesses say together, and everything on which they disagree."""
    verdict = Verdict()
    deliveries = _deliveries(w)
    verdict.findings += _sources(w, deliveries, verdict.arrived)
    held = w.state.held
    for name, source in deliveries.items():
        verdict.counts["accepted"] += 1
        mine, told = _present(name, w), w.feed.standings.get(name)
        verdict.kafka[_shown(told)] += 1
        verdict.clickhouse[_shown(mine)] += 1
        verdict.state[_kept(name, name in held, w.state)] += 1
        verdict.findings += _disagreements(name, source, mine, w)
        status = _best(mine, told, w.state.settled.get(name))
        bucket = _bucket(status, name in held)
        if bucket is None:
            verdict.findings.append(Finding("lost_delivery", name, str(status)))
            continue
        verdict.counts[bucket] += 1
        if bucket == "sent":
            verdict.counts[str(status)] += status is not Status.SENT
        if bucket == "pending":
            verdict.counts[_pending_kind(name, w.state)] += 1
    undecided = verdict.arrived["undecided"]
    verdict.counts.update(accepted=undecided, pending=undecided, undecided=undecided)
    for name, repeats in _repeats(w).items():
        verdict.duplicate_sends += repeats
        verdict.findings.append(Finding("repeated_send", name, f"{repeats} more than explained"))
    return verdict


def _deliveries(w: Witnesses) -> dict[str, int]:
    """Every delivery that anybody knows of an event still on the log -> that event."""
    claims: dict[str, int] = {}
    for known in (
        w.stored.sources,
        w.feed.sources,
        w.state.promised,
        w.state.waiting,
        w.state.queued,
        w.state.returning,
    ):
        claims |= known
    named = ((name, w.sources.named(source)) for name, source in claims.items())
    return {name: source for name, source in named if source in w.sources.rows}


def _present(name: str, w: Witnesses) -> Standing | None:
    """Where ClickHouse says it stands, once it has what is on its way."""
    stored, coming = w.stored.standings.get(name), w.feed.not_stored.get(name)
    if stored is None or coming is None:
        return stored or coming
    return max(stored, coming)


def _best(mine: Standing | None, told: Standing | None, claimed: Status | None) -> Status:
    """The farthest that anybody saw it: a disagreement is a finding of its own, not a loss."""
    seen = max((one for one in (mine, told) if one is not None), default=None)
    status = Status.ACCEPTED if seen is None else seen.status
    return claimed if claimed is not None and status not in FINAL else status


def _bucket(status: Status, held: bool) -> str | None:
    """The part of `accepted` it counts in; None when it is in none: lost."""
    if status in _TAKEN:
        return "sent"
    if status in FINAL and status is not Status.UNKNOWN:
        return str(status)
    if held:
        return "pending"
    return "unknown" if status is Status.UNKNOWN else None


def _pending_kind(name: str, state: State) -> str:
    if name in state.calling:
        return "calling"
    if name in state.waiting:
        return "waiting"
    return "queued" if name in state.queued else "returning"


def _kept(name: str, held: bool, state: State) -> str:
    if name in state.settled:
        return str(state.settled[name])
    if held:
        return _pending_kind(name, state)
    return "suppressed" if name in state.suppressed else "not kept"


def _disagreements(name: str, source: int, mine: Standing | None, w: Witnesses) -> Iterator[Finding]:
    told = w.feed.standings.get(name)
    if mine is None:
        yield Finding("missing_in_clickhouse", name, f"feed: {_shown(told)}")
        return
    if told is None:
        if w.feed_is_whole:
            yield Finding("unknown_to_kafka", name, f"ClickHouse: {_shown(mine)}")
    elif mine < told or (mine > told and w.feed_is_whole):
        yield Finding("clickhouse_differs", name, f"ClickHouse: {_shown(mine)}, feed: {_shown(told)}")
    yield from _claim(name, mine, w.state)
    row = w.sources.rows[source]
    if row and row not in w.state.first_results and not _may_have_left(row, w):
        yield Finding("no_first_result", name, shown(source))


def _claim(name: str, mine: Standing, state: State) -> Iterator[Finding]:
    ended, status = state.settled.get(name), mine.status
    if ended is not None and status is not ended and status not in _TAKEN:  # a receipt may come later
        yield Finding("claim_differs", name, f"ClickHouse: {status}, claim: {ended}")
    if name in state.suppressed and status not in _NOT_BY_RULE:
        yield Finding("claim_differs", name, f"ClickHouse: {status}, first result: suppressed")
    if status in _TAKEN and name not in state.claimed:
        yield Finding("sent_without_claim", name, str(status))
    settled = status in FINAL and status is not Status.UNKNOWN
    # A queue may hold what is settled already, until its reader acknowledges; a row or a call may not.
    if settled and (name in state.waiting or name in state.calling):
        yield Finding("still_held", name, f"{status}, and {_pending_kind(name, state)}")


def _may_have_left(row: bytes, w: Witnesses) -> bool:
    """Whether a first result is rightly not there: its window is over."""
    end_ms = w.state.let_go.get(row)
    return end_ms is not None and end_ms < w.now_ms


def _sources(w: Witnesses, deliveries: dict[str, int], arrived: Counter[str]) -> Iterator[Finding]:
    """Each event has exactly one explanation, or it is lost."""
    decided = set(deliveries.values()) | w.state.admitted
    repeated = {w.sources.named(one) for one in w.feed.duplicates | w.stored.duplicates}
    arrived.update(received=len(w.sources.rows), rekeyed=w.sources.rekeyed)
    for source in w.sources.rows:
        if source in decided:
            arrived["admitted"] += 1
        elif source in w.sources.refused:
            arrived["refused"] += 1
        elif source in repeated:
            arrived["duplicates"] += 1
        elif source in w.sources.undecided:
            arrived["undecided"] += 1
        else:
            arrived["lost"] += 1
            yield Finding("lost_source", shown(source), "")


def _repeats(w: Witnesses) -> dict[str, int]:
    """Deliveries sent more than once -> how many of the sends no unknown outcome before them explains."""
    found: dict[str, int] = {}
    sends = w.feed.sends.merged(w.state.sends)
    for name in sends.more.keys() | w.stored.messages.keys():
        taken = {sends.first[name]} | sends.more.get(name, set()) if name in sends.first else set()
        count = max(len(taken), w.stored.messages.get(name, 0))
        unknown = sends.unknown.get(name, set())
        attempts = sorted(attempt for attempt, _ in taken)
        explained = sum(
            any(earlier <= lost < later for lost in unknown) for earlier, later in pairwise(attempts)
        )
        if count - 1 > explained:
            found[name] = count - 1 - explained
    return found


def _shown(mine: Standing | None) -> str:
    return "nothing" if mine is None else str(mine.status)
