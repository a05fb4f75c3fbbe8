"""Whether our own account works: after a credential or account error nobody calls for a while.

Repeating such a call for every message would only multiply the error (R-181). After a pause one
call tries; the pauses grow while it fails.
"""

from collections.abc import Callable

PAUSE_MS = 30_000  # first pause; doubles ...
LONGEST_PAUSE_MS = 600_000  # ... up to this
_TRIAL_MS = 60_000  # a trial of which nothing is heard for so long is given up


class Standing:
    """Good, or paused, or on trial with a single call."""

    def __init__(self, now_ms: Callable[[], float]) -> None:
        self._now = now_ms
        self.is_good = True
        self._pause_ms = 0.0
        self._until_ms = 0.0
        self._trial_ms: float | None = None  # since when a trial is under way

    def refused_ms(self) -> float:
        """Return 0 if a call would be let through, else how long until it is worth asking again."""
        if self.is_good:
            return 0.0
        now = self._now()
        if self._trial_ms is not None:
            return max(0.0, self._trial_ms + _TRIAL_MS - now)
        return max(0.0, self._until_ms - now)

    def admit(self) -> bool:
        """Let a call through; while the standing is not good this is the trial."""
        if self.is_good:
            return True
        if self.refused_ms() > 0:
            return False
        self._trial_ms = self._now()
        return True

    def release(self) -> None:
        """Forget the trial: its call was not made, or said nothing about the account."""
        self._trial_ms = None

    def broken(self) -> bool:
        """Note an account error; True if it began or prolonged a pause."""
        now = self._now()
        if not self.is_good and self._trial_ms is None:
            return False  # a call that was under way when the pause began
        self._pause_ms = PAUSE_MS if self.is_good else min(2 * self._pause_ms, LONGEST_PAUSE_MS)
        self.is_good, self._trial_ms, self._until_ms = False, None, now + self._pause_ms
        return True

    def worked(self) -> bool:
        """Note a call that the account's state allowed; True if that ended a pause."""
        if self.is_good or self._trial_ms is None:
            return False
        self.is_good, self._trial_ms = True, None
        return True
