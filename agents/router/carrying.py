"""Turns decisions into what is written: a delivery for a sender, a row that waits, an event."""

from connectors.kafka.block import Writes
from streams.ids import row_id
from streams.reasons import Reason
from streams.records.codec import to_json
from streams.records.decision import Decision, Defer, Deliver, Suppress
from streams.records.delivery import Delivery
from streams.records.delivery_event import event_of
from streams.records.source import Source
from streams.records.state import Waiting
from streams.statuses import Status
from streams.topics import DELIVERIES, Channel, Lane
from tables.schedule import Schedule

_SUPPRESSED_AS = {
    Reason.EXPIRED: Status.EXPIRED,
    Reason.CANCELLED: Status.CANCELLED,
    Reason.REPLACED: Status.CANCELLED,
}


def carry_out(
    writes: Writes, schedule: Schedule, delivery: Delivery, decision: Decision, source: Source, offset: int
) -> None:
    """Write what one decision means; the same decision again writes the same again.

    `delivery` is the one the decision made. `seq` of its event is the
    decision's instant, so that two deferrals of one attempt both stand.
    """
    at = decision.decided_at_ms
    key = delivery.user_id.encode()
    match decision:
        case Deliver():
            topic = DELIVERIES[Channel(delivery.channel), Lane(delivery.lane)]
            writes.emit(topic, key, to_json(delivery))
            writes.event(event_of(delivery, Status.QUEUED, at, attempt=delivery.attempt, seq=at))
        case Defer(until_ms=until, reason=reason, rule=rule):
            row = row_id(delivery.delivery_id, delivery.attempt, until)
            schedule.insert(writes, Waiting(delivery, reason, rule, row), until, source, offset)
            writes.event(
                event_of(
                    delivery,
                    Status.DEFERRED,
                    at,
                    attempt=delivery.attempt,
                    seq=at,
                    rule=rule,
                    reason=reason,
                    until_ms=until,
                )
            )
        case Suppress(reason=reason, rule=rule):
            status = _SUPPRESSED_AS.get(reason, Status.SUPPRESSED)
            writes.event(
                event_of(delivery, status, at, attempt=delivery.attempt, seq=at, rule=rule, reason=reason)
            )
