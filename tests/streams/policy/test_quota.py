"""The shared quota: a bucket, lanes and workers."""

import random

from streams.policy.pace import Limits
from streams.policy.quota import Ask, Lease, Quota, Sharing, ask, open_quota

LIMITS = Limits(nominal=100.0, ceiling=100.0)
SHARING = Sharing()
BULK, CRITICAL = (0, 0, 100), (100, 0, 0)


def flood(quota: Quota, from_ms: int, until_ms: int, member: str = "bulk") -> Quota:
    """Let a bulk worker take all it can get."""
    for ms in range(from_ms, until_ms, 10):
        quota, _ = ask(quota, LIMITS, SHARING, ms, Ask(member, BULK, (0, 0, 1000)))
    return quota


def test_no_more_is_given_than_the_pace_allows() -> None:
    """However many workers ask, and however they come and go."""
    dice, quota, given = random.Random(1), open_quota(LIMITS, 0), 0
    for ms in range(0, 20_000, 7):
        wants = tuple(dice.choice((0, 1, 50)) for _ in range(3))
        wish = Ask(f"w{dice.randrange(40)}", wants, (0.0, 10.0, 500.0))  # type: ignore[arg-type]  # three of them
        quota, lease = ask(quota, LIMITS, SHARING, ms, wish)
        given += sum(lease.grants)
    assert given <= 100 * 20 + 100 * SHARING.burst_s + 4
    assert given >= 0.95 * 100 * 20


def test_critical_does_not_wait_for_what_bulk_took() -> None:
    """While bulk takes every token, a critical call still gets its own at once."""
    quota = flood(open_quota(LIMITS, 0), 0, 3_000)
    _, lease = ask(quota, LIMITS, SHARING, 3_000, Ask("otp", (1, 0, 0), (10, 0, 0)))
    assert lease.grants == (1, 0, 0)


def test_the_advance_of_critical_is_paid_back_by_bulk() -> None:
    """Reserve is no extra quota: bulk stands back until the bucket is even again."""
    quota = flood(open_quota(LIMITS, 0), 0, 3_000)
    quota, lease = ask(quota, LIMITS, SHARING, 3_000, Ask("otp", CRITICAL, (1000, 0, 0)))
    assert lease.grants[0] >= 4
    assert quota.level < 0
    quota, lease = ask(quota, LIMITS, SHARING, 3_001, Ask("bulk", BULK, (0, 0, 1000)))
    assert lease.grants == (0, 0, 0)
    assert lease.waits_ms[2] > 0


def test_bulk_keeps_its_reserve_under_a_flood_of_critical() -> None:
    """Urgent does not mean alone: a tenth stays for bulk (R-161)."""
    quota, given = open_quota(LIMITS, 0), [0, 0]
    for ms in range(0, 20_000, 10):
        quota, urgent = ask(quota, LIMITS, SHARING, ms, Ask("otp", CRITICAL, (5000, 0, 0)))
        quota, bulk = ask(quota, LIMITS, SHARING, ms + 5, Ask("bulk", BULK, (0, 0, 5000)))
        given[0] += urgent.grants[0]
        given[1] += bulk.grants[2]
    assert 0.08 <= given[1] / sum(given) <= 0.15


def test_greedy_and_modest_workers_share_max_min() -> None:
    """Who asks for little gets it all; who asks for much shares the rest, however often each asks."""
    quota, given = open_quota(LIMITS, 0), {"modest": 0, "greedy": 0, "greedier": 0}
    for ms in range(0, 30_000, 5):
        for name, every, want, demand in (
            ("modest", 200, 2, 10),
            ("greedy", 80, 100, 900),
            ("greedier", 5, 100, 9e4),
        ):
            if ms % every == 0:
                wish = Ask(name, (0, 0, want), (0, 0, demand))
                quota, lease = ask(quota, LIMITS, SHARING, ms, wish)
                given[name] += lease.grants[2]
    assert 294 <= given["modest"] <= 300
    assert abs(given["greedy"] - given["greedier"]) <= 0.05 * given["greedy"]


def test_a_pace_of_one_a_second_works() -> None:
    """Tokens come one by one; what is asked in between is told how long to wait."""
    slow, quota = Limits(nominal=1.0, ceiling=1.0), open_quota(Limits(nominal=1.0, ceiling=1.0), 0)
    given, ms = 0, 0.0
    while ms < 60_000:
        quota, lease = ask(quota, slow, SHARING, ms, Ask("w", BULK, (0, 0, 100)))
        given += sum(lease.grants)
        ms += lease.waits_ms[2]
    assert 58 <= given <= 62


def test_a_silent_worker_has_no_part_any_more() -> None:
    """Its share goes to the others after two seconds."""
    quota, _ = ask(open_quota(LIMITS, 0), LIMITS, SHARING, 0, Ask("gone", BULK, (0, 0, 1000)))
    quota, both = ask(quota, LIMITS, SHARING, 1_000, Ask("here", BULK, (0, 0, 1000)))
    quota, one = ask(quota, LIMITS, SHARING, 2_100, Ask("here", BULK, (0, 0, 1000)))
    assert (both.members, one.members) == (2, 1)
    assert one.shares[2] == 2 * both.shares[2]


def test_nothing_is_given_during_a_pause() -> None:
    """A Retry-After that one worker was told stops all of them."""
    quota, _ = ask(
        open_quota(LIMITS, 0), LIMITS, SHARING, 1_000, Ask("a", throttled=1, ok=99, after_ms=3_000)
    )
    leases: list[Lease] = []
    for ms in (1_100, 3_900, 4_100):
        quota, lease = ask(quota, LIMITS, SHARING, ms, Ask("b", CRITICAL, (100, 0, 0)))
        leases.append(lease)
    assert [bool(sum(lease.grants)) for lease in leases] == [False, False, True]
    assert leases[0].paused_ms == 2_900


def test_tokens_that_come_back_are_given_again() -> None:
    """What a worker did not use is not lost to the others."""
    quota = flood(open_quota(LIMITS, 0), 0, 2_000)
    quota, _ = ask(quota, LIMITS, SHARING, 2_000, Ask("bulk", returned=5))
    _, lease = ask(quota, LIMITS, SHARING, 2_000, Ask("other", (0, 0, 5), (0, 0, 50)))
    assert lease.grants[2] >= 5
