"""What is told about a message: facts, refusals, where it waits, and one sentence that sums it up."""

from msgspec import Struct

from harkara.questions.moments import shown
from streams.statuses import Status

#: Statuses for which the provider took the message.
TAKEN = frozenset({Status.SENT, Status.DELIVERED, Status.READ, Status.CLICKED, Status.BOUNCED})


class Fact(Struct, frozen=True, omit_defaults=True):
    """One thing that happened to a delivery."""

    at_ms: int
    status: Status
    attempt: int = 0
    provider: str = ""
    rule: str = ""
    reason: str = ""
    error_code: str = ""
    until_ms: int = 0
    provider_message_id: str = ""
    latency_ms: int = 0


class Waits(Struct, frozen=True):
    """It lies in the schedule."""

    until_ms: int
    reason: str
    rule: str


class DeliveryStory(Struct, frozen=True):
    """One delivery: what it is, where it stands, and all that happened to it, in order."""

    delivery_id: str
    notification_id: str
    tenant: str
    type: str
    lane: str
    channel: str
    status: Status
    sentence: str
    waits: Waits | None
    queued: bool  # lies in its lane for a sender
    calling: bool  # a call is under way, or its process ended before it could say what came of it
    returning: bool  # on its way back to the router
    facts: tuple[Fact, ...]


class Coordinates(Struct, frozen=True):
    """Where a record lies in Kafka."""

    topic: str
    partition: int
    offset: int


class Refusal(Struct, frozen=True):
    """An event that was refused."""

    reason: str
    pointer: str
    detail: str
    notification_id: str
    idempotency_key: str
    source: Coordinates
    at_ms: int


class Letter(Struct, frozen=True):
    """A record that was put aside whole; what is in it is not shown."""

    reason: str
    error: str
    role: str
    source: Coordinates
    at_ms: int


class Repeat(Struct, frozen=True):
    """An event that came again and made no delivery."""

    notification_id: str
    at_ms: int
    source: Coordinates


class Answer(Struct, frozen=True):
    """Everything that is known. `verdict`: known, rejected, dead_letter, undecided, lost, never_received."""

    verdict: str
    deliveries: tuple[DeliveryStory, ...] = ()
    rejected: tuple[Refusal, ...] = ()
    dead_letters: tuple[Letter, ...] = ()
    duplicates: tuple[Repeat, ...] = ()
    undecided: tuple[Coordinates, ...] = ()  # received, but no router has looked at them yet
    unexplained: tuple[Coordinates, ...] = ()  # received, decided by nobody: must not happen


def sentence(
    status: Status, facts: tuple[Fact, ...], waits: Waits | None, queued: bool, calling: bool, returning: bool
) -> str:
    """Say in one line what became of a delivery, or why nothing has yet."""
    last = next((fact for fact in reversed(facts) if fact.status is status), None)
    if status in TAKEN:
        return _taken(status, facts)
    if last is not None and status not in (Status.QUEUED, Status.DEFERRED, Status.SENDING, Status.UNKNOWN):
        return f"{status}: {_why(last.reason, last.rule, last.error_code)}, at {shown(last.at_ms)}"
    if waits is not None:
        return f"waits until {shown(waits.until_ms)}: {_why(waits.reason, waits.rule, '')}"
    if calling:
        return "a call to the provider is under way, or its end was never told"
    if returning:
        return "on its way back to the router, which decides again"
    if queued:
        return "queued: no sender has taken it yet"
    if status is Status.UNKNOWN and last is not None:
        return f"unknown: nobody can tell whether {last.provider or 'the provider'} took it"
    if last is not None:
        return f"{status} since {shown(last.at_ms)}, and just moving on"
    return str(status)


def _taken(status: Status, facts: tuple[Fact, ...]) -> str:
    sent = next((fact for fact in facts if fact.status is Status.SENT), facts[-1])
    told = f"sent by {sent.provider or 'the provider'} at {shown(sent.at_ms)}"
    told += f", attempt {sent.attempt}" if sent.attempt > 1 else ""
    later = next((fact for fact in facts if fact.status is status), None)
    if status is Status.SENT or later is None:
        return told
    return f"{status} at {shown(later.at_ms)}; {told}"


def _why(reason: str, rule: str, code: str) -> str:
    told = reason or "no reason given"
    told += f" ({code})" if code else ""
    return f"{told}, by {rule}" if rule else told
