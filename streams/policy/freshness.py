"""How long a decision may wait in a lane before it must be taken again."""

from dataclasses import dataclass

from streams.topics import Lane

_BULK = Lane.BULK


@dataclass(frozen=True, slots=True)
class Freshness:
    """Milliseconds from the decision on; short for whoever waits, long for campaigns."""

    bulk_ms: int = 600_000
    other_ms: int = 60_000

    def of(self, lane: Lane) -> int:
        """Return the lane's freshness in milliseconds."""
        return self.bulk_ms if lane is _BULK else self.other_ms
