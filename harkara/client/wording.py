"""Says facts about an event in one line each."""

from harkara.client.following import Fact
from harkara.client.instants import show_instant
from streams.records.delivery_event import DeliveryEvent
from streams.records.rejection import Rejection
from streams.statuses import Status


def line_of(fact: Fact) -> str:
    """Return one line for people, without the user, the address or the text."""
    if isinstance(fact, DeliveryEvent):
        return _status_line(fact)
    if isinstance(fact, Rejection):
        place = f" at {fact.pointer}" if fact.pointer else ""
        return f"rejected: {fact.reason}{place}: {fact.detail}"
    return f"dead letter: {fact.reason}: {fact.error}"


def _status_line(event: DeliveryEvent) -> str:
    if event.status is Status.DUPLICATE:
        return "duplicate: an event with this key or id was accepted before; it made no delivery"
    parts = [f"{event.channel:<6} {event.delivery_id}  {event.status}"]
    if event.reason:
        parts.append(f"({event.reason})")
    if event.until_ms:
        parts.append(f"until {show_instant(event.until_ms)}")
    if event.provider:
        parts.append(f"by {event.provider}, attempt {event.attempt}, {event.latency_ms} ms")
    return " ".join(parts)
