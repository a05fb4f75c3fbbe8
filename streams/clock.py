"""The one clock of a process, passed to whoever needs the time."""

from typing import Protocol


class Clock(Protocol):
    """Tells the time in milliseconds since the epoch."""

    def now_ms(self) -> int:
        """Return the present time (may be shifted by the demo's clock)."""
        ...


class FixedClock:
    """A clock that moves only when told to: for tests, replays and simulations."""

    def __init__(self, now_ms: int) -> None:
        self._now_ms = now_ms

    def now_ms(self) -> int:
        return self._now_ms

    def set(self, now_ms: int) -> None:
        self._now_ms = now_ms

    def advance(self, ms: int) -> None:
        self._now_ms += ms


class ShiftedClock:
    """Another clock plus an offset that can be changed while the process runs.

    The offset comes from the `controls` topic (scope `clock`), so that every process
    of a demo jumps to the next scene by the same record.
    """

    def __init__(self, base: Clock) -> None:
        self._base = base
        self.offset_ms = 0

    def now_ms(self) -> int:
        return self._base.now_ms() + self.offset_ms
