"""aiobreaker with its rules replaced: it keeps the states, we decide about them.

Left alone it counts consecutive failures only, lets everybody through when half open, closes at
the first success and tells the time by the wall clock. Here its own rule is disarmed (the counter
is always 0), the storage decides when closing is allowed, and opening and half opening are ours.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from aiobreaker import CircuitBreaker, CircuitBreakerListener
from aiobreaker.state import CircuitBreakerState as State
from aiobreaker.storage.base import CircuitBreakerStorage

from streams.outcomes import Outcome

_NEVER = 2**60


class CallFailed(Exception):
    """Carries an outcome that counts as an error through aiobreaker, which knows only exceptions."""

    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome


class Authority(CircuitBreakerStorage):  # type: ignore[misc]  # aiobreaker ships no types
    """The one state that counts; refuses to close before it may, and tells of each real change."""

    def __init__(self, may_close: Callable[[], bool], changed: Callable[[State, State], None]) -> None:
        super().__init__("authority")
        self._state = State.CLOSED
        self._may_close, self._changed = may_close, changed

    @property
    def state(self) -> State:
        return self._state

    @state.setter
    def state(self, state: State) -> None:
        old = self._state
        if state is old or (state is State.CLOSED and not self._may_close()):
            return  # a single success wanted to close it
        self._state = state
        self._changed(old, state)

    def increment_counter(self) -> None:
        """Count nothing: consecutive failures are not our rule."""

    def reset_counter(self) -> None:
        """Count nothing."""

    @property
    def counter(self) -> int:
        return 0

    @property
    def opened_at(self) -> datetime:
        return datetime.min  # aiobreaker's own gate, which tells the time by the wall clock, is always open

    @opened_at.setter
    def opened_at(self, _: datetime) -> None:
        return


class Judge(CircuitBreakerListener):  # type: ignore[misc]  # aiobreaker ships no types
    """Has the rate looked at after each call."""

    def __init__(self, judge: Callable[[], None]) -> None:
        self._judge = judge

    def success(self, breaker: CircuitBreaker) -> None:
        """Look: slow calls are successes too."""
        self._judge()

    def failure(self, breaker: CircuitBreaker, exception: Exception) -> None:
        """Look at what the failure made of the rate."""
        self._judge()


class Circuit(CircuitBreaker):  # type: ignore[misc]  # aiobreaker ships no types
    """The state machine; what raises anything but `CallFailed` is our own fault and never counts."""

    def __init__(
        self,
        may_close: Callable[[], bool],
        changed: Callable[[State, State], None],
        judge: Callable[[], None],
    ) -> None:
        super().__init__(
            fail_max=_NEVER,
            exclude=[_is_ours],
            listeners=[Judge(judge)],
            state_storage=Authority(may_close, changed),
        )

    def open(self) -> Any:
        """Open, without noting the wall clock."""
        self.state = self._state_storage.state = State.OPEN


def _is_ours(error: Exception) -> bool:
    return not isinstance(error, CallFailed)
