"""Tokens of one provider quota, taken in leases, so that a single call asks nobody."""

import asyncio
import random
from collections.abc import Callable

from msgspec import Struct
from structlog.typing import FilteringBoundLogger

from connectors.kafka.exits import leave_on_error
from connectors.pacing.bell import Bell
from connectors.pacing.hand import NUMBERS, Grant, Hand
from connectors.pacing.lease_settings import LeaseSettings
from connectors.pacing.ledger import Ledger
from connectors.pacing.monotonic import monotonic_ms
from connectors.pacing.shared_quota import SharedQuota
from connectors.pacing.source import Source
from streams.policy.quota import Lease
from streams.topics import Lane

_APART_MS = 2  # least time between two questions
_URGENT_MS = 20  # a 429 is told no later than this
_IDLE_MS = 60_000  # how long nothing at all is asked


class Wait(Struct, frozen=True, gc=False):
    """No token now; one is expected at `until_ms` of the monotonic clock if nothing changes."""

    until_ms: float


class Leases:
    """This worker's part of one quota.

    `take` never waits, `wait` wakes by events, and neither depends on Valkey: without it the
    worker goes on at its last share and returns by itself. `member` names the worker and must be
    unique among all that share the quota.
    """

    def __init__(
        self,
        shared: SharedQuota,
        member: str,
        dice: random.Random,
        log: FilteringBoundLogger,
        settings: LeaseSettings,
        now_ms: Callable[[], float] = monotonic_ms,
    ) -> None:
        self.name = shared.name
        self._settings, self._now = settings, now_ms
        self._source = Source(shared, dice, log, now_ms, settings)
        self._ledger = Ledger(member, shared.sharing.largest)
        self._hand, self._bell = Hand(), Bell()
        self._fetching: asyncio.Task[None] | None = None
        self._closed = False
        self._asked_ms = 0.0
        self._ask_from_ms = [0.0, 0.0, 0.0]  # by lane: before this, asking is no use
        self._held_until_ms = 0.0
        self._paused_until_ms = 0.0
        self.last: Lease | None = None  # how the quota stood when it was last asked

    def start(self) -> None:
        """Begin to fetch leases; call it inside the running loop."""
        self._fetching = asyncio.get_running_loop().create_task(self._fetch(), name=f"leases {self.name}")
        self._fetching.add_done_callback(leave_on_error)

    async def close(self) -> None:
        """Stop; what is in hand and in the shared memory lapses by itself."""
        self._closed = True  # a library may swallow the cancellation
        self._bell.ring()
        if self._fetching is not None:
            self._fetching.cancel()
            await asyncio.gather(self._fetching, return_exceptions=True)
        await self._source.close()

    @property
    def alone(self) -> bool:
        """Whether Valkey is away, so that this worker paces itself."""
        return self._source.alone

    def paused_ms(self) -> int:
        """Return how much longer the provider wants silence."""
        return max(0, round(self._paused_until_ms - self._now()))

    def take(self, lane: Lane) -> Grant | Wait:
        """Return leave for one call, or when one is expected."""
        number, now, ledger, hand = NUMBERS[lane], self._now(), self._ledger, self._hand
        ledger.taken[number] += 1
        grant = hand.take(number) if now < self._held_until_ms else None
        if grant is None:
            ledger.missed[number] = True
        elif hand.tokens[number] >= ledger.low[number]:
            return grant
        if now >= self._ask_from_ms[number]:
            self._bell.ring()
        return grant or Wait(self._expected_ms(number, now))

    async def wait(self, lane: Lane, until_ms: float) -> Grant | Wait:
        """Return the next token of this lane, first come, first served; `Wait` if none came in time."""
        number = NUMBERS[lane]
        self._bell.ring()
        grant = await self._hand.wait(number, self._now(), until_ms)
        return grant or Wait(self._expected_ms(number, self._now()))

    def give_back(self, grant: Grant) -> None:
        """Take back a token for which no call was made."""
        if self._now() < self._paused_until_ms:
            self._ledger.returned += 1
        else:
            self._hand.give_back(grant)

    def answered(self, rtt_ms: float) -> None:
        """Note a call that the provider answered and did not refuse for rate."""
        self._ledger.ok += 1
        self._ledger.took_ms(rtt_ms)

    def throttled(self, after_ms: int, rtt_ms: float) -> None:
        """Note a call that was refused for rate; a Retry-After stops this worker at once."""
        ledger, now = self._ledger, self._now()
        ledger.throttled += 1
        ledger.after_ms = max(ledger.after_ms, after_ms)
        ledger.took_ms(rtt_ms)
        if after_ms > 0:
            ledger.returned += self._hand.empty()
            self._pause(now + after_ms)
        self._bell.ring()

    def restart(self) -> None:
        """Begin slowly again: the provider was away and is just back."""
        self._ledger.restart = True
        self._ledger.returned += self._hand.empty()
        self._bell.ring()

    async def _fetch(self) -> None:
        while not self._closed:
            if (early_ms := self._due_ms() - self._now()) > 0:
                await self._bell.wait(min(early_ms, _IDLE_MS))
                continue
            self._asked_ms = now = self._now()
            if now >= self._held_until_ms:
                self._ledger.returned += self._hand.empty()
            self._take_in(await self._source.ask(self._ledger.close(self._hand, now)))

    def _due_ms(self) -> float:
        """Return when the next question is due: somebody waits, little is left, or there are news."""
        due, ledger, hand = float("inf"), self._ledger, self._hand
        for lane in range(3):
            if hand.waiting(lane) or ledger.missed[lane] or hand.tokens[lane] < ledger.low[lane]:
                due = min(due, self._ask_from_ms[lane])
        if any(hand.tokens):
            due = min(due, self._held_until_ms)
        if ledger.has_news:
            urgent = ledger.throttled > 0 or ledger.restart
            due = min(due, self._asked_ms + (_URGENT_MS if urgent else self._settings.report_ms))
        return max(due, self._asked_ms + _APART_MS)

    def _take_in(self, lease: Lease) -> None:
        now = self._now()
        self.last = lease
        if lease.paused_ms > 0:
            self._pause(now + lease.paused_ms)
        self._ask_from_ms = [now + wait for wait in lease.waits_ms]
        if now < self._paused_until_ms:  # a 429 came while we asked
            self._ledger.returned += sum(lease.grants)
        elif any(lease.grants):
            self._held_until_ms = now + self._settings.held_ms
            self._hand.add(lease.grants)

    def _pause(self, until_ms: float) -> None:
        if until_ms > self._paused_until_ms:
            self._paused_until_ms = until_ms
            self._hand.dismiss(until_ms)

    def _expected_ms(self, number: int, now: float) -> float:
        """Return when one more in a lane's queue would be served, as far as the last lease tells."""
        from_ms = max(now, self._paused_until_ms, self._ask_from_ms[number])
        share = self.last.shares[number] if self.last else 0.0
        return from_ms + (self._hand.waiting(number) * 1000 / share if share > 0 else 0.0)
