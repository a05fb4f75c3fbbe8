"""Tells whether a delivery's facts, its claim and the calls that arrived tell one story."""

from collections.abc import Iterator, Sequence

from connectors.simulator.entry import Entry
from streams.records.decision import Decision, Deliver, Suppress
from streams.records.delivery_event import DeliveryEvent
from streams.records.state import Claim
from streams.statuses import FINAL, Status


def is_settled(events: Sequence[DeliveryEvent], claim: Claim | None) -> bool:
    """Whether the delivery has its final status; UNKNOWN is one only if its claim says so."""
    statuses = {event.status for event in events}
    if Status.UNKNOWN in statuses and claim is not None and claim.final:
        return True
    return not statuses.isdisjoint(FINAL - {Status.UNKNOWN})


def faults_of_delivery(
    decision: Decision, events: Sequence[DeliveryEvent], calls: Sequence[Entry], claim: Claim | None,
    queued: bool,
) -> Iterator[str]:  # fmt: skip
    """Yield every promise that this delivery breaks."""
    statuses = {event.status for event in events}
    endings = statuses & FINAL - {Status.UNKNOWN}
    accepted = [call for call in calls if call.accepted]
    unknown = {event.attempt for event in events if event.status is Status.UNKNOWN}
    if not events:
        yield "every delivery is told of"
    if isinstance(decision, Deliver) and not queued:
        yield "what is to be delivered is given to a sender"
    if isinstance(decision, Suppress) and (calls or queued):
        yield "what was suppressed is not sent"
    if len(endings) > 1:
        yield "a delivery ends in one way"
    if claim is not None and claim.open:
        yield "no claim stays open"
    if len(accepted) > 1 + len(unknown) or (len(accepted) > 1 and not unknown):
        yield "nobody gets a message twice without an unknown outcome"
    if accepted and Status.SENT not in statuses and not unknown:
        yield "what was sent is told as sent, or as unknown"
    told = {event.provider_message_id for event in events if event.status is Status.SENT}
    if not told <= {call.message_id for call in accepted}:
        yield "what is told as sent was sent"
