"""Knows when the pipeline has done all it can for now."""

import time

from connectors.kafka.lags import Lags
from harkara.chaos.evidence import Evidence, collect
from harkara.chaos.settled import is_settled
from harkara.embedded.pipeline import EmbeddedPipeline
from streams.errors import HarkaraError
from streams.records.delivery_event import DeliveryEvent
from streams.statuses import Status
from streams.topics import (
    ACTIVE_CHANNELS,
    DELIVERIES,
    DELIVERY_EVENTS,
    FOLLOWUPS,
    INGEST,
    LANES,
    PROFILES,
    ROUTER_APP,
    SINK_APP,
    STOPS,
    sender_app,
)

#: Consumer group -> the topics it reads.
GROUPS = {
    ROUTER_APP: (PROFILES, *INGEST.values(), *FOLLOWUPS.values()),
    **{
        sender_app(channel, lane): (DELIVERIES[channel, lane], STOPS)
        for channel in ACTIVE_CHANNELS
        for lane in LANES
    },
    SINK_APP: (DELIVERY_EVENTS,),
}
_POLL_S = 0.2
#: What waits for longer than this, held or retried, is counted as pending and not waited for.
_SOON_MS = 30_000


class NotDrained(HarkaraError):
    """Something is still on its way after all patience."""


def drain(pipeline: EmbeddedPipeline, patience_s: float) -> Evidence:
    """Return the evidence once all is consumed and nothing is open or due soon.

    Raises NotDrained that says what is left.
    """
    deadline = time.monotonic() + patience_s
    lags = Lags(pipeline.addresses.kafka, GROUPS)
    while True:
        behind = {group: lag for group, lag in lags.measure().items() if lag}
        if not behind:
            evidence = collect(pipeline)
            still_open = _open(evidence, time.time_ns() // 1_000_000 + _SOON_MS)
            if not still_open and not any(lags.measure().values()):
                return evidence
            behind = {"open deliveries": len(still_open)} if still_open else behind
        if time.monotonic() > deadline:
            raise NotDrained(f"after {patience_s:.0f} s: {behind}")
        time.sleep(_POLL_S)


def _open(evidence: Evidence, before_ms: int) -> list[str]:
    """Return deliveries that are neither settled nor waiting beyond this instant."""
    events: dict[str, list[DeliveryEvent]] = {}
    for event in evidence.events:
        if event.status is not Status.DUPLICATE:
            events.setdefault(event.delivery_id, []).append(event)
    long = {row.partition(".")[0] for row, entry in evidence.waiting.items() if entry.due_ms >= before_ms}
    return [
        own
        for own, facts in events.items()
        if own not in long and not is_settled(facts, evidence.claims.get(own))
    ]
