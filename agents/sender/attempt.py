"""One delivery from its queue to its verdict: stop, lease, claim, call, close.

The order is the promise: nothing is called before its claim is durable, and the last look at stops
and deadlines is right before the claim.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

from msgspec.structs import replace

from agents.poison import PoisonGuard
from agents.sender.bursts import Bursts
from agents.sender.verdict import (
    Verdict,
    attempted,
    closed,
    deals_with,
    handed_back,
    not_sent,
    told,
    with_failure,
    without_call,
    write,
)
from connectors.kafka.block import Record, Writes
from connectors.kafka.transport import Transport
from connectors.pacing.route import NoTurn, Route
from connectors.providers.provider import Call
from connectors.telemetry import Telemetry
from streams.catalog import Catalog
from streams.clock import Clock
from streams.metrics import ATTEMPT_SECONDS, ATTEMPTS
from streams.outcomes import Outcome, Unknown
from streams.policy.next_step import Final, Later, Retry, next_step
from streams.policy.stopping import stopped
from streams.reasons import Reason
from streams.records.delivery import Delivery
from streams.records.delivery_event import DeliveryEvent
from streams.records.followup import Reconsider
from streams.records.state import Claim
from streams.rendering.bad_template import BadTemplate
from streams.rendering.render import render
from streams.statuses import Status
from streams.topics import Lane
from tables.claims import Claims
from tables.stops import StopsTable

_BUSY_MS = 1_000
#: So long a delivery may hold a place in flight for a provider that does not let it through.
_TURN_MS = 5_000


@dataclass(frozen=True)
class _Again:
    """An attempt that failed and is repeated at once, after `after_ms`.

    `claim` is closed with it, and with the followup that takes its place if this process ends.
    """

    event: DeliveryEvent
    after_ms: int
    claim: Claim
    followup: Reconsider


@dataclass(frozen=True)
class Attempts:
    """Brings deliveries to their verdict; never repeats a call unknowingly."""

    transport: Transport
    route: Route
    catalog: Catalog
    clock: Clock
    claims: Claims
    stops: StopsTable
    claiming: Bursts
    settling: Bursts
    telemetry: Telemetry
    poison: PoisonGuard

    async def settle(
        self, delivery: Delivery, record: Record, partition: int, claimed: Callable[[], None]
    ) -> None:
        """Make the attempts that are due now; returns when the verdict is durable.

        `claimed` is called right before the first claim: from then on the task must not be
        abandoned.
        """
        result = self._known(delivery, record, partition)
        if result is None:
            result = self._forbidden(delivery, partition, self.clock.now_ms())
        while not isinstance(result, Verdict):
            if isinstance(result, _Again):
                delivery = await self._again(delivery, result, partition)
                result = self._forbidden(delivery, partition, self.clock.now_ms())
                if result is not None:
                    break
            result = await self._attempt(delivery, record, partition, claimed)
        await self._write(delivery, result, record, partition)

    async def give_way(self, delivery: Delivery, record: Record, partition: int, at_ms: int) -> None:
        """Give a delivery back until `at_ms`: its user is busy with an earlier one."""
        verdict = handed_back(delivery, Reason.BUSY, at_ms)
        claim = self.claims.of(partition, delivery.delivery_id)
        if claim is not None and claim.open:  # a lost one: it is looked into when its turn comes
            writes = Writes(partition)
            write(writes, delivery, verdict)
            await self.settling.join(writes)
            return
        known = told(claim) if claim is not None and deals_with(claim, delivery) else None
        await self._write(delivery, known or verdict, record, partition)

    async def _again(self, delivery: Delivery, again: _Again, partition: int) -> Delivery:
        """Put a failed attempt on record, wait, and return the delivery with its next attempt."""
        writes = Writes(partition)
        writes.event(again.event)
        verdict = Verdict(again.event, again.followup, final=False)
        self.claims.save(writes, delivery.delivery_id, closed(again.claim, verdict))
        await self.settling.join(writes)
        await asyncio.sleep(again.after_ms / 1000)
        return again.followup.delivery

    async def _write(self, delivery: Delivery, verdict: Verdict, record: Record, partition: int) -> None:
        writes = Writes(partition)
        write(writes, delivery, verdict)
        claim = verdict.claim or without_call(delivery, verdict, record)
        self.claims.save(writes, delivery.delivery_id, closed(claim, verdict))
        await self.settling.join(writes)

    def _known(self, delivery: Delivery, record: Record, partition: int) -> Verdict | _Again | None:
        """Return what came of this decision when it was here before, None if it was not."""
        claim = self.claims.of(partition, delivery.delivery_id)
        if claim is None:
            return None
        if claim.open and claim.attempt >= delivery.attempt:
            # Claimed by a process that ended before it could say what came of it.
            lost = replace(delivery, attempt=claim.attempt)
            return self._follow(lost, Unknown("lost_claim"), claim, record, self.clock.now_ms(), 0)
        return told(claim) if deals_with(claim, delivery) else None

    def _forbidden(self, delivery: Delivery, partition: int, now: int) -> Verdict | None:
        if delivery.expires_at_ms <= now:
            return not_sent(delivery, Status.EXPIRED, Reason.EXPIRED, now, "expiry")
        reason = stopped(self.stops.of(partition, delivery.user_id.encode()), delivery)
        if reason is not None:
            status = Status.CANCELLED if reason is Reason.CANCELLED else Status.SUPPRESSED
            return not_sent(delivery, status, reason, now, "stops")
        if delivery.send_until_ms <= now:
            return handed_back(delivery, Reason.STALE, now)
        return None

    async def _attempt(
        self, delivery: Delivery, record: Record, partition: int, claimed: Callable[[], None]
    ) -> Verdict | _Again:
        try:
            message = render(delivery, self.catalog)
        except Exception as error:  # our own code broke on it: it must not end every process that reads it
            return self._poisoned(delivery, record, error)
        if isinstance(message, BadTemplate):
            verdict = not_sent(delivery, Status.FAILED, Reason.BAD_TEMPLATE, self.clock.now_ms(), "template")
            return with_failure(verdict, delivery, Unknown(message.detail), record, Reason.BAD_TEMPLATE)
        kind = self.catalog.type(delivery.type)
        providers = kind.providers_for(delivery.channel) if kind is not None else ()
        deadline_ms = min(delivery.send_until_ms, self.clock.now_ms() + _TURN_MS)
        turn = await self.route.turn(delivery.channel, Lane(delivery.lane), providers, deadline_ms)
        now = self.clock.now_ms()
        if isinstance(turn, NoTurn):
            return handed_back(delivery, turn.reason, max(turn.until_ms, now))
        forbidden = self._forbidden(delivery, partition, now)
        if forbidden is not None:
            turn.cancel()
            return forbidden
        claimed()
        claim = Claim(
            delivery.attempt, True, turn.provider, now, delivery.expires_at_ms, record.offset,
            decided_at_ms=delivery.decided_at_ms,
        )  # fmt: skip
        writes = Writes(partition)
        self.claims.save(writes, delivery.delivery_id, claim)
        await self.claiming.join(writes)
        self.transport.check_ownership()
        begun = time.monotonic()
        outcome = await turn.call(
            Call(
                delivery.delivery_id,
                delivery.delivery_id,
                delivery.address,
                message,
                self.clock.now_ms(),
                delivery.expires_at_ms,
                delivery.purpose,
            )
        )
        took_s = time.monotonic() - begun
        self.telemetry.observe(ATTEMPT_SECONDS, took_s, turn.provider)
        self.telemetry.add(ATTEMPTS, 1, turn.provider, delivery.channel, type(outcome).__name__.lower())
        took_ms = round(took_s * 1000)
        return self._follow(delivery, outcome, claim, record, self.clock.now_ms(), took_ms)

    def _poisoned(self, delivery: Delivery, record: Record, error: Exception) -> Verdict:
        now = self.clock.now_ms()
        self.poison.note(now, 1, 1)
        verdict = not_sent(delivery, Status.FAILED, Reason.POISON, now, "template")
        return with_failure(verdict, delivery, Unknown(type(error).__name__), record, Reason.POISON)

    def _follow(
        self, delivery: Delivery, outcome: Outcome, claim: Claim, record: Record, now: int, took_ms: int
    ) -> Verdict | _Again:
        """Return what an outcome means for the delivery."""
        kind = self.catalog.type(delivery.type)
        step = next_step(outcome, delivery, kind, now)
        unsettled = Status.UNKNOWN if isinstance(outcome, Unknown) else Status.SENDING
        match step:
            case Retry(after_ms=after_ms, reason=reason):
                event = attempted(delivery, outcome, claim.provider, unsettled, reason, now, took_ms)
                later = replace(delivery, attempt=delivery.attempt + 1)
                return _Again(event, after_ms, claim, Reconsider(later, now + after_ms, reason))
            case Later(at_ms=at_ms, reason=reason, counts=counts):
                event = attempted(delivery, outcome, claim.provider, unsettled, reason, now, took_ms)
                uncounted = delivery.uncounted + (not counts)
                later = replace(delivery, attempt=delivery.attempt + 1, uncounted=uncounted)
                return Verdict(event, Reconsider(later, at_ms, reason), claim, final=False)
            case Final(status=status, reason=reason, dead_letter=dead_letter):
                event = attempted(delivery, outcome, claim.provider, status, reason or "", now, took_ms)
                verdict = Verdict(event, None, claim)
                if status in (Status.SENT, Status.UNKNOWN):
                    return verdict  # both keep their place under the cap
                return with_failure(verdict, delivery, outcome, record, reason if dead_letter else None)
