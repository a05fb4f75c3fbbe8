"""Shares: max-min inside a lane, reserve and borrowing between lanes."""

from math import inf, isclose

from hypothesis import given
from hypothesis import strategies as st

from streams.policy.shares import fair_level, lane_shares

RATES = st.floats(0.1, 1e5)
DEMANDS = st.lists(st.floats(0, 1e5), min_size=1, max_size=12)
RESERVES = (0.2, 0.2, 0.1)
BY_LANE = st.tuples(*[st.floats(0, 1e5)] * 3)


@given(RATES, DEMANDS)
def test_all_is_given_and_nobody_gets_more_than_asked(capacity: float, demands: list[float]) -> None:
    """Under max-min nothing is left while somebody wants more, and nothing is given twice."""
    level = fair_level(capacity, demands)
    given_out = sum(min(demand, level) for demand in demands)
    assert isclose(given_out, min(capacity, sum(demands)), rel_tol=1e-9, abs_tol=1e-6)


def test_small_demands_are_met_and_the_rest_is_divided_evenly() -> None:
    """Who asks for little gets it; the others share what is left."""
    assert fair_level(100, [10, 500, 60]) == 45
    assert fair_level(100, [10, 20]) == inf


@given(RATES, BY_LANE)
def test_lanes_get_their_reserve_and_never_more_than_asked(
    capacity: float, demands: tuple[float, float, float]
) -> None:
    """Each lane is sure of its reserve, no lane gets more than its demand, the sum is the capacity's."""
    shares = lane_shares(capacity, demands, RESERVES)
    for share, demand, reserve in zip(shares, demands, RESERVES, strict=True):
        assert share <= demand + 1e-6
        assert share >= min(demand, reserve * capacity) - 1e-6
    assert isclose(sum(shares), min(capacity, sum(demands)), rel_tol=1e-9, abs_tol=1e-6)


@given(RATES, BY_LANE, st.floats(0, 1e5))
def test_critical_never_gets_less_because_bulk_wants_more(
    capacity: float, demands: tuple[float, float, float], more: float
) -> None:
    """Bulk's demand takes nothing from critical but bulk's own small reserve."""
    critical, transactional, bulk = demands
    quiet = lane_shares(capacity, (critical, transactional, 0), RESERVES)
    flood = lane_shares(capacity, (critical, transactional, bulk + more), RESERVES)
    assert flood[0] >= quiet[0] - RESERVES[2] * capacity - 1e-6
    assert flood[0] >= min(critical, capacity * (1 - sum(RESERVES[1:]))) - 1e-6


def test_what_urgent_lanes_leave_goes_to_bulk() -> None:
    """A reserve that nobody asks for is lent, so the quota is used up."""
    assert lane_shares(100, (5, 0, 1000), RESERVES) == [5, 0, 95]
