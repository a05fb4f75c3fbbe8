"""What is written about a delivery: its event, what comes back to the router, and its closed claim."""

from dataclasses import dataclass, field

from msgspec.structs import replace

from connectors.kafka.block import Record, Writes
from streams.outcomes import Accepted, EndpointGone, Outcome, Rejected
from streams.reasons import Reason
from streams.records.codec import (
    read_dead_letter,
    read_delivery_event,
    read_followup,
    read_profile_command,
    to_json,
)
from streams.records.dead_letter import DeadLetter
from streams.records.delivery import Delivery
from streams.records.delivery_event import DeliveryEvent, event_of
from streams.records.followup import Followup, Reconsider, Settle
from streams.records.profile_command import ProfileCommand, RemoveDevice, SetPreference
from streams.records.state import Claim
from streams.statuses import Status
from streams.topics import DEAD_LETTERS, FOLLOWUPS, PROFILES, Channel, Lane

ROLE = "sender"


@dataclass
class Verdict:
    """All that one attempt (or the reason why there was none) leaves behind."""

    event: DeliveryEvent | None
    followup: Followup | None = None
    claim: Claim | None = None
    final: bool = True
    letters: list[DeadLetter] = field(default_factory=list)
    command: ProfileCommand | None = None  # what the provider's answer tells us of the user


def write(writes: Writes, delivery: Delivery, verdict: Verdict) -> None:
    """Add a verdict to the writes; written again it says the same under the same ids."""
    user = delivery.user_id.encode()
    if verdict.event is not None:
        writes.event(verdict.event)
    if verdict.followup is not None:
        writes.emit(FOLLOWUPS[Lane(delivery.lane)], user, to_json(verdict.followup))
    for letter in verdict.letters:
        writes.emit(DEAD_LETTERS, user, to_json(letter))
    if verdict.command is not None:
        writes.emit(PROFILES, user, to_json(verdict.command))


def not_sent(delivery: Delivery, status: Status, reason: Reason, now_ms: int, rule: str) -> Verdict:
    """Close a delivery without a call; its place under a cap is given back."""
    return Verdict(
        event_of(
            delivery,
            status,
            now_ms,
            attempt=delivery.attempt,
            seq=delivery.decided_at_ms,
            rule=rule,
            reason=reason,
        ),
        _settle(delivery),
    )


def handed_back(delivery: Delivery, reason: Reason, at_ms: int) -> Verdict:
    """Give a delivery back to the router, which notes the deferral and decides again at `at_ms`."""
    return Verdict(None, Reconsider(delivery, at_ms, reason), final=False)


def attempted(
    delivery: Delivery,
    outcome: Outcome,
    provider: str,
    status: Status,
    reason: str,
    now_ms: int,
    took_ms: int,
) -> DeliveryEvent:
    """Return the event of a provider call."""
    event = event_of(delivery, status, now_ms, attempt=delivery.attempt, rule=ROLE, reason=reason)
    if isinstance(outcome, Accepted):
        return replace(
            event,
            provider=provider,
            latency_ms=took_ms,
            provider_message_id=outcome.provider_message_id,
            segments=outcome.segments,
            cost_micros=outcome.cost_micros,
            currency=outcome.currency,
        )
    return replace(event, provider=provider, latency_ms=took_ms, error_code=outcome.code)


def closed(claim: Claim, verdict: Verdict) -> Claim:
    """Return the claim with what its attempt said, so that a replay says it again."""
    return replace(
        claim,
        open=False,
        final=verdict.final,
        event=b"" if verdict.event is None else to_json(verdict.event),
        followup=b"" if verdict.followup is None else to_json(verdict.followup),
        letters=tuple(to_json(letter) for letter in verdict.letters),
        command=b"" if verdict.command is None else to_json(verdict.command),
    )


def told(claim: Claim) -> Verdict:
    """Return what a closed claim said, to be said again."""
    return Verdict(
        read_delivery_event(claim.event) if claim.event else None,
        read_followup(claim.followup) if claim.followup else None,
        claim,
        claim.final,
        [read_dead_letter(letter) for letter in claim.letters],
        read_profile_command(claim.command) if claim.command else None,
    )


def without_call(delivery: Delivery, verdict: Verdict, record: Record) -> Claim:
    """Return the claim of a delivery that needed no call, or was given back before one."""
    return Claim(
        delivery.attempt if verdict.final else delivery.attempt - 1,
        False,
        "",
        delivery.decided_at_ms,
        delivery.expires_at_ms,
        record.offset,
        decided_at_ms=delivery.decided_at_ms,
    )


def deals_with(claim: Claim, delivery: Delivery) -> bool:
    """Whether this decision about the delivery, or a later one, came to its verdict already."""
    return claim.final or claim.attempt >= delivery.attempt or claim.decided_at_ms >= delivery.decided_at_ms


def with_failure(
    verdict: Verdict, delivery: Delivery, outcome: Outcome, record: Record, letter: Reason | None
) -> Verdict:
    """Add what a final failure leaves: the place given back, a dead letter, a dead device."""
    verdict.followup = _settle(delivery)
    now_ms = 0 if verdict.event is None else verdict.event.occurred_at_ms
    if letter is not None:
        code = getattr(outcome, "code", "")
        verdict.letters.append(
            DeadLetter(
                letter, code, ROLE, record.topic, record.partition, record.offset,
                record.key or b"", record.value or b"", now_ms,
            )
        )  # fmt: skip
    verdict.command = _learnt(delivery, outcome, now_ms)
    return verdict


def _learnt(delivery: Delivery, outcome: Outcome, now_ms: int) -> ProfileCommand | None:
    """Return the profile command that a refusal amounts to: a dead device, a STOP at the provider."""
    match outcome:
        case EndpointGone(code=code) if delivery.channel == Channel.PUSH:
            return RemoveDevice(
                user_id=delivery.user_id,
                at=now_ms,
                source=f"provider:{code}",
                device_id=delivery.endpoint,
                token=delivery.address,
            )
        case Rejected(reason=Reason.OPTED_OUT, code=code):
            return SetPreference(
                user_id=delivery.user_id,
                at=now_ms,
                source=f"provider:{code}",
                channel=delivery.channel,
                allowed=False,
            )
    return None


def _settle(delivery: Delivery) -> Settle | None:
    if not delivery.reserves:
        return None
    return Settle(delivery.user_id, delivery.notification_id, delivery.delivery_id, delivery.channel)
