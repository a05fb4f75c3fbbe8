"""Chooses who sends, and waits until it may: failover over standing, breaker and lease."""

from collections.abc import Callable, Mapping
from math import ceil

from msgspec import Struct
from structlog.typing import FilteringBoundLogger

from connectors.pacing.bell import Bell
from connectors.pacing.breaker import Breaker, Permit
from connectors.pacing.hand import Grant
from connectors.pacing.leases import Leases
from connectors.pacing.line import Line, Refusal
from connectors.pacing.monotonic import monotonic_ms
from connectors.pacing.status import ProviderStatus, status_of
from connectors.providers.provider import Call, Provider
from streams.clock import Clock
from streams.outcomes import Outcome
from streams.reasons import Reason
from streams.topics import Lane

_LOOK_MS = 1_000  # who waits for a breaker looks again so often, rung or not
_NOBODY_MS = 60_000  # when to come again if no provider is configured


class NoTurn(Struct, frozen=True, gc=False):
    """Nobody can send before the deadline; `until_ms` is when it is worth trying again."""

    reason: Reason
    until_ms: int


class Turn:
    """Leave to make one call at one provider. It ends in `call` or in `cancel`."""

    __slots__ = ("_grant", "_line", "_permit", "_used", "provider")

    def __init__(self, line: Line, permit: Permit, grant: Grant) -> None:
        self.provider = line.provider.name
        self._line, self._permit, self._grant = line, permit, grant
        self._used = False

    async def call(self, call: Call) -> Outcome:
        """Make the call, once; never raises for what the provider or the network does.

        If the breaker has opened since, no call is made and the outcome is `Unavailable`.
        """
        if self._used:
            raise RuntimeError("a turn is for one call")
        self._used = True
        return await self._line.call(self._permit, self._grant, call)

    def cancel(self) -> None:
        """Give token and permit back, unless the call was made; may be called twice."""
        if not self._used:
            self._used = True
            self._line.give_back(self._permit, self._grant)


class Route:
    """Gives turns: the first provider in order that can be called, at the pace it allows.

    `providers`, `leases` and `breakers` have the same keys: the names that callers choose by.
    Deadlines are on `clock`; waits are timed by the monotonic clock and end by themselves.
    """

    def __init__(
        self,
        providers: Mapping[str, Provider],
        leases: Mapping[str, Leases],
        breakers: Mapping[str, Breaker],
        clock: Clock,
        log: FilteringBoundLogger,
        now_ms: Callable[[], float] = monotonic_ms,
    ) -> None:
        self._clock, self._now, self._bell = clock, now_ms, Bell()
        self.lines: dict[str, Line] = {
            name: Line(provider, leases[name], breakers[name], self._bell, log, now_ms)
            for name, provider in providers.items()
        }

    def start(self) -> None:
        """Begin to fetch leases; call it inside the running loop."""
        for line in self.lines.values():
            line.leases.start()

    async def close(self) -> None:
        """Stop fetching leases and give back the providers' connections."""
        for line in self.lines.values():
            await line.leases.close()
            await line.provider.close()

    def status(self) -> tuple[ProviderStatus, ...]:
        """Return how every provider stands in this process."""
        now = self._now()
        return tuple(status_of(line, now) for line in self.lines.values())

    async def turn(
        self, channel: str, lane: Lane, providers: tuple[str, ...], deadline_ms: int
    ) -> Turn | NoTurn:
        """Return leave to call one of `providers`, or why there is none before `deadline_ms`.

        A provider whose breaker is open, whose account is broken, or whose quota will not do in
        time is passed over. Waits without a task of its own; cancelling it costs nothing.
        """
        while True:
            soonest: Refusal | None = None
            for name in providers:
                line = self.lines.get(name)
                if line is None or line.provider.channel != channel:
                    continue
                got = line.refusal() or await self._take(line, lane, deadline_ms)
                if isinstance(got, Turn):
                    return got
                if soonest is None or got.for_ms < soonest.for_ms:
                    soonest = got
            now = self._clock.now_ms()
            if soonest is None:
                return NoTurn(Reason.CHANNEL_UNAVAILABLE, now + _NOBODY_MS)
            if now + soonest.for_ms > deadline_ms or now >= deadline_ms:
                return NoTurn(soonest.reason, now + ceil(soonest.for_ms))
            if soonest.for_ms > 0:
                await self._bell.wait(min(soonest.for_ms, _LOOK_MS))

    async def _take(self, line: Line, lane: Lane, deadline_ms: int) -> Turn | Refusal:
        """Return a turn of this line, waiting for a token if one can come in time."""
        got = line.leases.take(lane)
        if not isinstance(got, Grant):
            now = self._now()
            last_ms = now + deadline_ms - self._clock.now_ms()
            if got.until_ms <= last_ms:
                got = await line.leases.wait(lane, last_ms)
            if not isinstance(got, Grant):
                return Refusal(Reason.THROTTLED, max(1.0, got.until_ms - self._now()))
        permit = line.admit()
        if permit is None:  # others were first, or the breaker opened while we waited
            line.leases.give_back(got)
            return line.refusal() or Refusal(Reason.BREAKER_OPEN, 0.0)
        return Turn(line, permit, got)
