"""Looks, compares, and looks again at what did not fit: what still does not fit is wrong."""

import gc
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from clickhouse_connect.driver.client import Client
from msgspec import Struct

from connectors.clickhouse.migrations import DATABASE
from connectors.kafka.scan import Scan
from harkara.audit.cut import take
from harkara.audit.feed import read_feed
from harkara.audit.sources import read_sources
from harkara.audit.state import read_state
from harkara.audit.stored import read_stored
from harkara.audit.verdict import LAW, Finding, Verdict, Witnesses, compare

#: In a living system a delivery may be between two witnesses; three looks later it has moved on.
LOOKS: Final = 3
_PAUSE_S: Final = 2.0
_LOST: Final = ("lost_source", "lost_delivery")
_STEPS: Final = 5

#: Told after each step: what was read, how many steps are done, how many there are.
Progress = Callable[[str, int, int], None]


class Report(Struct, frozen=True):
    """What an audit found. `holds` only if the law adds up, nothing is lost, repeated, or in doubt."""

    holds: bool
    accepted: int  # deliveries, and events that are not decided yet
    parts: dict[str, int]  # `LAW`: accepted is their sum; each is counted, pending too
    lost: int  # events and deliveries that no witness explains
    duplicate_sends: int  # sends that no unknown outcome explains
    pending: dict[str, int]  # kinds of pending
    of_sent: dict[str, int]  # delivered, read, clicked, bounced
    events: dict[str, int]  # what arrived: received, admitted, refused, duplicates, undecided, …
    witnesses: dict[str, dict[str, int]]  # deliveries by status as each says: kafka, state, clickhouse
    differences: dict[str, int]  # findings by kind
    findings: tuple[Finding, ...]
    looks: int
    seconds: float


def look(scan: Scan, client: Client, wall_ms: int, told: Progress, database: str = DATABASE) -> Witnesses:
    """Read every witness at one cut; ClickHouse last, so that it never knows less than the cut."""
    cut = take(scan, wall_ms)
    told("events", 0, _STEPS)
    sources = read_sources(cut)
    told("feed", 1, _STEPS)
    feed = read_feed(cut)
    told("state", 2, _STEPS)
    state = read_state(cut)
    told("ClickHouse", 3, _STEPS)
    stored = read_stored(client, cut, database)
    told("compared", 4, _STEPS)
    return Witnesses(cut.now_ms, cut.feed_is_whole, sources, feed, state, stored)


def audit(looking: Callable[[], Witnesses], pause: Callable[[float], None] = time.sleep) -> Report:
    """Look and compare, up to three times; a finding counts when every look has it."""
    begun = time.monotonic()
    with _uncollected():
        looks = 1
        verdict = compare(looking())
        standing = {finding[:2] for finding in verdict.findings}
        while standing and looks < LOOKS:
            pause(_PAUSE_S)
            looks += 1
            verdict = compare(looking())
            standing &= {finding[:2] for finding in verdict.findings}
    moved_on = [finding for finding in verdict.findings if finding[:2] not in standing]
    for finding in moved_on:
        if finding.kind == "lost_delivery":
            verdict.counts.update(pending=1, moving=1)
        elif finding.kind == "lost_source":
            verdict.counts.update(accepted=1, pending=1, moving=1)
    findings = tuple(finding for finding in verdict.findings if finding[:2] in standing)
    return _report(verdict, findings, looks, time.monotonic() - begun)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Millions of small values and no cycles among them: collecting them would take most of the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _report(verdict: Verdict, findings: tuple[Finding, ...], looks: int, seconds: float) -> Report:
    kinds = Counter(finding.kind for finding in findings)
    counts = verdict.counts
    return Report(
        holds=not findings and verdict.adds_up,
        accepted=counts["accepted"],
        parts={part: counts[part] for part in LAW},
        lost=sum(kinds[kind] for kind in _LOST),
        duplicate_sends=verdict.duplicate_sends if kinds["repeated_send"] else 0,
        pending={k: counts[k] for k in ("undecided", "waiting", "queued", "calling", "returning", "moving")},
        of_sent={part: counts[part] for part in ("delivered", "read", "clicked", "bounced")},
        events=dict(sorted(verdict.arrived.items())),
        witnesses={
            "kafka": dict(sorted(verdict.kafka.items())),
            "state": dict(sorted(verdict.state.items())),
            "clickhouse": dict(sorted(verdict.clickhouse.items())),
        },
        differences=dict(sorted(kinds.items())),
        findings=findings,
        looks=looks,
        seconds=round(seconds, 2),
    )
