"""Stops calling a provider that fails or hangs, and tries again with a few calls.

Opens on the share of errors, or of slow calls, over the last ten seconds; one bad answer never
opens it (FAI-01). Half open it admits three calls at a time and closes after three answers; an
opening that follows soon upon a closing lasts longer, so it does not flap (FAI-02). Only calls
made in the present state count: a straggler from before an opening says nothing new.
"""

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from aiobreaker import CircuitBreakerError
from aiobreaker.state import CircuitBreakerState as State
from msgspec import Struct

from connectors.pacing.circuit import CallFailed, Circuit
from connectors.pacing.monotonic import monotonic_ms
from connectors.pacing.quantile import Quantile
from connectors.pacing.rolling import RollingWindow
from connectors.providers.provider import Call
from streams.outcomes import Accepted, EndpointGone, Outcome, Rejected, Unavailable, Unknown

_NAMES = {State.CLOSED: "closed", State.OPEN: "open", State.HALF_OPEN: "half_open"}
_ANSWERED = (Accepted, Rejected, EndpointGone)  # the provider works, whatever it says
_ERRORS = (Unavailable, Unknown)  # all else says nothing about whether it works


@dataclass(frozen=True)
class BreakerSettings:
    """When it opens and how it closes."""

    least_calls: int = 20  # in the window, before anything is judged
    error_share: float = 0.5
    slow_share: float = 0.8
    slow_ms: int = 2_000  # slower than this and than 3 times the usual (median) is slow
    slow_times: float = 3.0
    probes: int = 3  # calls at a time while half open, and answers until it closes
    open_ms: int = 5_000  # the first time; doubles each time ...
    longest_open_ms: int = 60_000  # ... up to this; all ±20 %
    calm_ms: int = 60_000  # closed for so long: the next opening is a first one again


class BreakerChange(Struct, frozen=True):
    """One change of state with its evidence: counts of the window that led to it."""

    name: str
    old: str  # "closed", "open", "half_open"
    new: str
    calls: int
    errors: int
    slow: int
    open_ms: int  # how long it stays open; 0 unless `new` is "open"


class Permit:
    """Leave to make one call in the state in which it was given."""

    __slots__ = ("era", "is_probe")

    def __init__(self, era: int, is_probe: bool) -> None:
        self.era, self.is_probe = era, is_probe


class Breaker:
    """One breaker of one account at one provider."""

    def __init__(
        self,
        name: str,
        dice: random.Random,
        settings: BreakerSettings = BreakerSettings(),
        now_ms: Callable[[], float] = monotonic_ms,
    ) -> None:
        self.name, self.settings = name, settings
        self._dice, self._now = dice, now_ms
        self._circuit = Circuit(self._may_close, self._changed, self._judge)
        self._state = State.CLOSED
        self._listeners: list[Callable[[BreakerChange], None]] = []
        self.window = RollingWindow()
        self._usual = Quantile(0.5, step=0.02)
        self._era = 0  # counts changes
        self._open_pass = Permit(0, is_probe=False)  # closed, everybody shares one permit
        self._probing = 0  # probes under way
        self._answers = 0  # good answers while half open
        self._since_ms = now_ms()
        self._closed_ms = -float("inf")
        self._openings = 0  # without calm between them
        self._reopens_ms = 0.0

    @property
    def state(self) -> str:
        """Return "closed", "open" or "half_open"."""
        return _NAMES[self._state]

    def listen(self, listener: Callable[[BreakerChange], None]) -> None:
        """Have every change of state told, right when it happens."""
        self._listeners.append(listener)

    def refused_ms(self) -> float:
        """Return 0 if a call would be admitted, else how long until it is worth asking again."""
        if self._state is State.CLOSED:
            return 0.0
        if self._state is State.OPEN:
            return max(0.0, self._reopens_ms - self._now())
        return 0.0 if self._has_probe() else float(self.settings.open_ms)

    def admit(self) -> Permit | None:
        """Return a permit, which must end in `call` or `release`; None while calls are refused."""
        if self._state is State.CLOSED:
            return self._open_pass
        if self._state is State.OPEN:
            if self._now() < self._reopens_ms:
                return None
            self._circuit.half_open()
        if not self._has_probe():
            return None
        self._probing += 1
        return Permit(self._era, is_probe=True)

    def release(self, permit: Permit) -> None:
        """Take back a permit with which no call was made."""
        if permit.is_probe and permit.era == self._era:
            self._probing -= 1

    async def call(
        self, permit: Permit, send: Callable[[Call], Awaitable[Outcome]], call: Call
    ) -> Outcome | None:
        """Make the call and count it; None, and no call, if the breaker has opened since the permit."""
        if permit.era != self._era and self._state is not State.CLOSED:
            return None
        try:
            outcome: Outcome = await self._circuit.call_async(self._counted, permit, send, call)
            return outcome
        except CallFailed as failed:
            return failed.outcome
        except CircuitBreakerError as error:  # the failed call was a probe
            if isinstance(error.__cause__, CallFailed):
                return error.__cause__.outcome
            raise

    async def _counted(
        self, permit: Permit, send: Callable[[Call], Awaitable[Outcome]], call: Call
    ) -> Outcome:
        began_ms = self._now()
        try:
            outcome = await send(call)
        finally:  # also when we are cancelled, or the provider's code is broken
            self.release(permit)
        if permit.era != self._era:
            return outcome
        is_error = isinstance(outcome, _ERRORS)
        if is_error or isinstance(outcome, _ANSWERED):
            now = self._now()
            is_slow = now - began_ms > max(
                self.settings.slow_ms, self.settings.slow_times * self._usual.value
            )
            self.window.add(now, is_error, is_slow)
            if is_error or (is_slow and permit.is_probe):
                raise CallFailed(outcome)
            self._usual.add(now - began_ms)
            self._answers += permit.is_probe
        return outcome

    def _has_probe(self) -> bool:
        if self._now() - self._since_ms > self.settings.longest_open_ms:
            self._begin_era()  # permits that nobody gave back
        return self._probing < self.settings.probes

    def _may_close(self) -> bool:
        return self._state is State.HALF_OPEN and self._answers >= self.settings.probes

    def _judge(self) -> None:
        window, settings = self.window, self.settings
        if self._state is State.CLOSED and window.calls >= settings.least_calls:
            errors, slow = window.errors / window.calls, window.slow / window.calls
            if errors >= settings.error_share or slow >= settings.slow_share:
                self._circuit.open()

    def _changed(self, old: State, new: State) -> None:
        now, window, open_ms = self._now(), self.window, 0.0
        if new is State.OPEN:
            again = old is State.HALF_OPEN or now - self._closed_ms < self.settings.calm_ms
            self._openings = self._openings + 1 if again else 1
            open_ms = self.settings.open_ms * 2.0 ** min(self._openings - 1, 16)
            open_ms = min(open_ms, self.settings.longest_open_ms) * self._dice.uniform(0.8, 1.2)
            self._reopens_ms = now + open_ms
        elif new is State.CLOSED:
            self._closed_ms = now
        self._state = new
        self._begin_era()
        change = BreakerChange(
            self.name,
            _NAMES[old],
            _NAMES[new],
            window.calls,
            window.errors,
            window.slow,
            round(open_ms),
        )
        if new is not State.OPEN:
            window.clear()  # what was before says nothing about now
        for listener in self._listeners:
            listener(change)

    def _begin_era(self) -> None:
        self._era += 1
        self._open_pass = Permit(self._era, is_probe=False)
        self._probing = self._answers = 0
        self._since_ms = self._now()
