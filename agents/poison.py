"""Bounds how much may be put aside as poison: a bad release must stop, not empty a topic."""

from collections import deque

from streams.errors import HarkaraError


class TooMuchPoison(HarkaraError):
    """More than the allowed share of records broke our own code lately."""


class PoisonGuard:
    """Counts records and those that raised; more than 1 % within a minute ends the process."""

    def __init__(self, share: float = 0.01, window_ms: int = 60_000, least: int = 20) -> None:
        self._share = share
        self._window_ms = window_ms
        self._least = least  # so few bad records are always put aside
        self._blocks: deque[tuple[int, int, int]] = deque()
        self._seen = 0
        self._bad = 0

    def note(self, now_ms: int, seen: int, bad: int) -> None:
        """Note a block; raises TooMuchPoison past the bound."""
        self._blocks.append((now_ms, seen, bad))
        self._seen += seen
        self._bad += bad
        while self._blocks and self._blocks[0][0] < now_ms - self._window_ms:
            _, old_seen, old_bad = self._blocks.popleft()
            self._seen -= old_seen
            self._bad -= old_bad
        if self._bad > self._least and self._bad > self._share * self._seen:
            raise TooMuchPoison(
                f"{self._bad} of the last {self._seen} records broke this release: "
                "roll back, then replay dead-letters"
            )
