"""Percentiles of what was measured: by nearest rank, so each is a value that occurred."""

from collections.abc import Sequence
from math import ceil

from msgspec import Struct


class Percentiles(Struct, frozen=True):
    """Milliseconds; None where nothing was measured."""

    count: int
    p50: int | None
    p99: int | None
    max: int | None


def percentiles(values: Sequence[int]) -> Percentiles:
    """Return the percentiles of some milliseconds, in any order."""
    ordered = sorted(values)
    if not ordered:
        return Percentiles(0, None, None, None)

    def at(share: float) -> int:
        return ordered[max(0, ceil(share * len(ordered)) - 1)]

    return Percentiles(len(ordered), at(0.5), at(0.99), ordered[-1])
