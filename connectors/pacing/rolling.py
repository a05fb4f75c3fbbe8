"""Counts of the last ten seconds, at no cost a reader could feel."""

BUCKETS = 10
BUCKET_MS = 1_000


class RollingWindow:
    """Calls, errors and slow calls in ten buckets of one second; sums are kept, not computed."""

    def __init__(self) -> None:
        self._at = 0
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        self._buckets = [[0, 0, 0] for _ in range(BUCKETS)]
        self.calls = self.errors = self.slow = 0

    def add(self, now_ms: float, error: bool, slow: bool) -> None:
        """Count one call that ended now."""
        self.roll(now_ms)
        bucket = self._buckets[self._at % BUCKETS]
        bucket[0] += 1
        self.calls += 1
        if error:
            bucket[1] += 1
            self.errors += 1
        if slow:
            bucket[2] += 1
            self.slow += 1

    def roll(self, now_ms: float) -> None:
        """Drop what is older than the window."""
        at = int(now_ms // BUCKET_MS)
        if at == self._at:
            return
        for passed in range(max(self._at + 1, at - BUCKETS + 1), at + 1):
            bucket = self._buckets[passed % BUCKETS]
            self.calls -= bucket[0]
            self.errors -= bucket[1]
            self.slow -= bucket[2]
            bucket[0] = bucket[1] = bucket[2] = 0
        self._at = at
