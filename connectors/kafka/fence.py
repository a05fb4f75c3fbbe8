"""Self-fencing: a worker that may have lost its partitions leaves before it writes."""

import time

from connectors.kafka.exits import leave
from streams.errors import LostOwnership


def boot_seconds() -> float:
    """Return seconds on a clock that counts suspended time where the system has one."""
    clock = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return time.clock_gettime(clock)


class Fence:
    """Knows the age of the last successful heartbeat, dated by when it was sent.

    Past half the session timeout another worker may soon own our partitions. This narrows the
    window of a paused owner; only transactions would close it.
    """

    def __init__(self, session_s: float) -> None:
        self.limit_s = session_s / 2
        self._sent_s: float | None = None

    def renew(self, sent_s: float) -> None:
        """Note a heartbeat (or a join) that the group accepted, sent at `sent_s`."""
        if self._sent_s is None or sent_s > self._sent_s:
            self._sent_s = sent_s

    @property
    def age_s(self) -> float:
        return 0.0 if self._sent_s is None else boot_seconds() - self._sent_s

    def check(self) -> None:
        """Leave the process unless the group heard of us lately."""
        if self.age_s > self.limit_s:
            leave(LostOwnership(f"last heartbeat is {self.age_s:.1f} s old, limit {self.limit_s:.1f} s"))
