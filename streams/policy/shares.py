"""Who gets how much of one quota: between lanes by reserve and urgency, inside a lane by max-min."""

from collections.abc import Iterable, Sequence
from math import inf


def fair_level(capacity: float, demands: Iterable[float]) -> float:
    """Return the most that anybody gets when `capacity` is shared max-min.

    Who asks for less than the level gets all of it; what they leave goes to the others in equal
    parts. Infinity when there is enough for all.
    """
    waiting = sorted(demands)
    left, number = capacity, len(waiting)
    for position, demand in enumerate(waiting):
        level = left / (number - position)
        if demand > level:
            return level
        left -= demand
    return inf


def lane_shares(capacity: float, demands: Sequence[float], reserves: Sequence[float]) -> list[float]:
    """Return each lane's share of `capacity`, most urgent lane first, never above its demand.

    Each lane is sure of its reserve (a fraction of `capacity`) while it asks for it; all else, also
    reserves that nobody asks for, is lent in the order of urgency. So an urgent lane never waits
    for a lower one, and a lower one is never starved below its reserve.
    """
    shares = [min(demand, capacity * reserve) for demand, reserve in zip(demands, reserves, strict=True)]
    left = capacity - sum(shares)
    for lane, demand in enumerate(demands):
        borrowed = min(demand - shares[lane], left)
        shares[lane] += borrowed
        left -= borrowed
    return shares
