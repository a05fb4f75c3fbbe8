"""One provider with all that stands before a call to it."""

from collections.abc import Callable
from math import ceil
from typing import assert_never

from msgspec import Struct
from structlog.typing import FilteringBoundLogger

from connectors.once import Once
from connectors.pacing.bell import Bell
from connectors.pacing.breaker import Breaker, BreakerChange, Permit
from connectors.pacing.hand import Grant
from connectors.pacing.leases import Leases
from connectors.pacing.standing import Standing
from connectors.providers.provider import Call, Provider
from streams.outcomes import (
    Accepted,
    EndpointGone,
    Misconfigured,
    Outcome,
    Rejected,
    Throttled,
    Unavailable,
    Unknown,
)
from streams.reasons import Reason

#: Quotas that all calls of an account share; those of a device, a topic or a prefix slow nobody else.
SHARED_SCOPES = frozenset({"account", "sender", "region"})


class Refusal(Struct, frozen=True, gc=False):
    """Why a provider is not called now, and for how long at least."""

    reason: Reason
    for_ms: float


class Line:
    """A provider, its quota, its breaker and our standing there; turns their answers into memory."""

    def __init__(
        self,
        provider: Provider,
        leases: Leases,
        breaker: Breaker,
        bell: Bell,
        log: FilteringBoundLogger,
        now_ms: Callable[[], float],
    ) -> None:
        self.provider, self.leases, self.breaker = provider, leases, breaker
        self.standing = Standing(now_ms)
        self._now = now_ms
        self.in_flight = 0
        self._bell, self._log, self._once = bell, log, Once(log)
        breaker.listen(self._breaker_changed)

    def refusal(self) -> Refusal | None:
        """Return why no call would be admitted, None if one would."""
        if not self.standing.is_good and (wait := self.standing.refused_ms()) > 0:
            return Refusal(Reason.PROVIDER_MISCONFIGURED, wait)
        if (wait := self.breaker.refused_ms()) > 0:
            return Refusal(Reason.BREAKER_OPEN, wait)
        return None

    def admit(self) -> Permit | None:
        """Return the breaker's permit for one call, None if it is refused."""
        permit = self.breaker.admit()
        if permit is not None and not self.standing.is_good and not self.standing.admit():
            self.breaker.release(permit)
            return None
        return permit

    def give_back(self, permit: Permit, grant: Grant) -> None:
        """Undo `admit` and the token: no call was made."""
        self.leases.give_back(grant)
        self.breaker.release(permit)
        if permit.is_probe or not self.standing.is_good:
            self.standing.release()
            self._bell.ring()

    async def call(self, permit: Permit, grant: Grant, call: Call) -> Outcome:
        """Make the call and remember what it says about quota, breaker and account."""
        self.in_flight += 1
        began_ms = self._now()
        outcome: Outcome | None = None
        try:
            outcome = await self.breaker.call(permit, self.provider.send, call)
        finally:
            self.in_flight -= 1
            if permit.is_probe or not self.standing.is_good:
                self._heard(outcome)
        if outcome is None:
            self.give_back(permit, grant)
            return Unavailable("BREAKER_OPEN", ceil(self.breaker.refused_ms()))
        self._heed(outcome, self._now() - began_ms)
        return outcome

    def _heed(self, outcome: Outcome, took_ms: float) -> None:
        match outcome:
            case Accepted() | Rejected() | EndpointGone():
                self.leases.answered(took_ms)
            case Throttled(after_ms=after_ms, scope=scope):
                if scope in SHARED_SCOPES:
                    self.leases.throttled(after_ms, took_ms)
                else:
                    self.leases.answered(took_ms)
            case Misconfigured():
                self._alert(outcome)
            case Unavailable() | Unknown():
                pass  # the breaker's business: they say nothing about the pace
            case _:
                assert_never(outcome)

    def _alert(self, outcome: Misconfigured) -> None:
        """Say once what is broken; an account's or a sender's fault stops the whole provider."""
        if outcome.scope in SHARED_SCOPES:
            self.standing.broken()
        self._once.warn(
            f"account {outcome.scope}",
            "provider refuses our account",
            provider=self.provider.name,
            account=self.provider.account,
            scope=outcome.scope,
            error_code=outcome.code,
        )

    def _heard(self, outcome: Outcome | None) -> None:
        """Follow a probe or a trial: whoever waits for its end may look again."""
        if isinstance(outcome, Accepted | Rejected | EndpointGone):
            if self.standing.worked():
                for scope in SHARED_SCOPES:
                    self._once.over(
                        f"misconfigured {scope}",
                        "provider takes our account again",
                        provider=self.provider.name,
                    )
        elif not isinstance(outcome, Misconfigured):
            self.standing.release()
        self._bell.ring()

    def _breaker_changed(self, change: BreakerChange) -> None:
        self._log.warning(
            "breaker changed",
            provider=self.provider.name,
            account=self.provider.account,
            status=change.new,
            calls=change.calls,
            errors=change.errors,
            slow=change.slow,
            ms=change.open_ms,
        )
        if change.new == "closed":
            self.leases.restart()
        self._bell.ring()
