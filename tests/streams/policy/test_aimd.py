"""AIMD-H: against hidden limits, and rule by rule."""

import random
import sys
from collections.abc import Callable

import pytest

from streams.policy.aimd import begin, step
from streams.policy.pace import Limits, Pace, Phase, Seen
from tests.streams.policy.simulated_quota import STEP, Bucket, Hidden, Result, Window, run

BUSY = Seen(used=1e6, ok=100)


def told(result: Result, name: str) -> Result:
    """Write the row of a trace (seen with `pytest -s`)."""
    sys.stdout.write(
        f"\n{name:<34}use {result.utilisation:6.1%}  429 {result.share_429:6.2%}  Jain {result.jain:5.3f}"
        f"  settles {result.settled_s(80_000):4.1f} s  regains {result.regained_s(160_000, 400):4.1f} s"
    )
    return result


@pytest.mark.parametrize("workers", [1, 4])
def test_a_stepping_limit_is_found_and_followed(workers: int) -> None:
    """400, then 120, then 400 a second: well used, hardly ever refused, followed within seconds."""
    result = told(run(Bucket(), workers, jitter=random.Random(workers).random), f"bucket, {workers} workers")
    assert result.utilisation >= 0.9
    assert result.share_429 <= 0.015
    assert result.jain >= 0.98
    assert result.settled_s(80_000) <= 3
    assert result.regained_s(160_000, 400) <= 20


@pytest.mark.parametrize(
    ("hidden", "least"),
    [(Window(1_000, False), 0.85), (Window(1_000, True), 0.85), (Window(1_000, True, 1_000), 0.7)],
    ids=["silent", "exact Retry-After", "Retry-After in whole seconds"],
)
def test_a_quota_of_one_second_windows_is_followed(hidden: Window, least: float) -> None:
    """Windows that close for a part of each second do not confuse it, whatever it is told of them.

    A Retry-After of whole seconds is honoured though most of that second would be open.
    """
    result = told(run(hidden, 2, jitter=random.Random(3).random), f"1 s windows, tells {hidden.tells}")
    assert result.utilisation >= least
    assert result.share_429 <= 0.02


def test_refusals_that_come_during_a_pause_deepen_its_cut_not_the_next() -> None:
    """They are of calls made before it; counted later, they would halve a pace that is right."""
    pace = step(at(100), Limits(), 1_000, Seen(ok=200, throttled=1, after_ms=1_000))
    assert pace.rate == pytest.approx(90)
    pace = step(pace, Limits(), 1_100, Seen(ok=20, throttled=100))
    assert pace.rate == pytest.approx(100 * (1 - 101 / 331))
    pace = step(pace, Limits(), 4_000, Seen(ok=190, throttled=1, after_ms=1_000))
    assert pace.rate >= 0.9 * pace.peak - 1e-9


def test_a_quota_of_a_minute_is_waited_for_not_hammered() -> None:
    """A window that is used up is left alone until the provider's own instant (RST-01)."""
    trace = ((0, 400.0), (120_000, 120.0), (240_000, 400.0))
    known = Limits(nominal=400.0, window_ms=60_000)
    hidden = Window(60_000, tells=True)
    result = told(run(hidden, 2, trace, 360_000, known, random.Random(5).random), "60 s windows, declared")
    assert result.share_429 <= 0.01
    assert result.utilisation >= 0.75


def test_without_any_hint_it_starts_slowly_and_finds_the_limit() -> None:
    """From 10 a second to a limit of 1000 in a few seconds of doubling."""
    result = run(Bucket(), 1, ((0, 1000.0),), 20_000, Limits(), random.Random(7).random)
    assert next(ms for ms, rate in result.rates if rate >= 900) <= 12_000
    assert result.share_429 <= 0.02


def at(rate: float, **facts: float) -> Pace:
    pace = begin(Limits(nominal=rate), 0)
    for name, value in facts.items():
        setattr(pace, name, value)
    return pace


def test_many_429s_at_once_cut_once() -> None:
    """Within a hold there is one cut, however many answers are refused."""
    pace = at(100, rtt_ms=400.0)
    once = step(pace, Limits(), 1_000, Seen(ok=500, throttled=1))
    again = step(once, Limits(), 1_700, Seen(throttled=50))
    assert once.rate == pytest.approx(90)
    assert again.rate >= once.rate
    assert step(again, Limits(), 1_900, Seen(throttled=1)).rate < again.rate


def test_the_cut_is_as_deep_as_the_refusals_are_many() -> None:
    """Few refusals cost a tenth, many their own share, and never more than half."""
    few, many, all_ = Seen(ok=990, throttled=10), Seen(ok=690, throttled=300), Seen(throttled=10_000)
    assert step(at(100), Limits(), 1_000, few).rate == pytest.approx(90)
    assert step(at(100), Limits(), 1_000, many).rate == pytest.approx(70)
    assert step(at(100), Limits(), 1_000, all_).rate == pytest.approx(50)


def test_after_a_cut_it_returns_to_just_under_the_last_good_pace() -> None:
    """In four seconds, in a line, and then it stays there for a while."""
    pace = step(at(100), Limits(), 1_000, Seen(ok=990, throttled=10))
    good = pace.good
    for ms in range(1_100, 5_200, 100):
        pace = step(pace, Limits(), ms, BUSY)
    assert pace.rate == pytest.approx(0.97 * good)
    assert pace.phase == Phase.PLATEAU


def test_an_idle_worker_never_inflates_its_pace() -> None:
    """Unused pace proves nothing, so it does not grow."""
    pace = at(100)
    for ms in range(0, 60_000, 200):
        pace = step(pace, Limits(), ms, Seen(used=2, ok=2))
    assert pace.rate == 100


def test_probing_gets_faster_until_it_is_refused() -> None:
    """Growth doubles up to 30 % a second while nothing is refused."""
    pace, rates = at(100), []
    for ms in range(0, 20_000, 100):
        pace = step(pace, Limits(), ms, BUSY)
        rates.append(pace.rate)
    assert rates[45] < 105
    assert pace.growth == pytest.approx(0.30)
    assert rates[-1] / rates[-11] == pytest.approx(1.03**10, rel=0.01)


def test_a_retry_after_is_a_pause() -> None:
    """Nothing flows, and nothing grows, before the provider's own instant."""
    pace = step(at(100), Limits(), 1_000, Seen(ok=990, throttled=10, after_ms=2_000))
    assert pace.paused_ms == 3_000
    paused = step(pace, Limits(), 2_900, BUSY)
    assert paused.rate == pace.rate


def test_a_pause_of_hours_does_not_ruin_the_pace() -> None:
    """A plan that is used up until tomorrow says nothing about calls a second (RST-01)."""
    hours = 6 * 3_600_000
    pace = step(at(400), Limits(), 1_000, Seen(ok=1, throttled=100, after_ms=hours))
    assert pace.paused_ms == 1_000 + hours
    assert pace.phase == Phase.SLOW_START
    now = pace.paused_ms
    for _ in range(100):
        now += 100
        pace = step(pace, Limits(), now, BUSY)
    assert pace.rate > 150


def test_after_an_outage_it_starts_at_a_tenth_and_doubles() -> None:
    """A provider that is just back is not met with the full blast."""
    pace = step(at(400), Limits(), 1_000, Seen(restart=True))
    assert pace.rate == pytest.approx(40)
    for ms in range(1_100, 12_000, 100):
        pace = step(pace, Limits(), ms, BUSY)
    assert pace.rate == pytest.approx(0.97 * 400, rel=0.1)


def test_one_workers_outage_does_not_slow_the_others() -> None:
    """While others get through at this very moment, a restart is this worker's own trouble."""
    pace = step(at(400), Limits(), 600, BUSY)
    assert pace.utilised
    assert step(pace, Limits(), 700, Seen(restart=True)).rate == pace.rate


@pytest.mark.parametrize("make", [Bucket, lambda: Window(1_000, True), lambda: Window(60_000, True)])
def test_it_never_leaves_its_bounds(make: Callable[[], Hidden]) -> None:
    """Neither below the floor nor above the ceiling, whatever is answered."""
    limits = Limits(floor=2, ceiling=300, start=5)
    result = run(make(), 1, ((0, 1.0), (20_000, 5_000.0), (40_000, 1.0)), 60_000, limits)
    assert all(2 <= rate <= 300 for _, rate in result.rates)


def test_a_trace_is_the_same_every_time() -> None:
    """No clock and no dice inside: the same story gives the same pace."""
    first, second = (run(Bucket(), 2, STEP, 10_000, jitter=random.Random(1).random) for _ in range(2))
    assert first.rates == second.rates
