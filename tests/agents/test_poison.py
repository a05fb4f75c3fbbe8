"""A few bad records are put aside; a bad release stops."""

import pytest

from agents.poison import PoisonGuard, TooMuchPoison


def test_a_few_bad_records_are_always_put_aside() -> None:
    """Twenty in a minute stop nobody, even if nothing else came."""
    guard = PoisonGuard()
    for now_ms in range(20):
        guard.note(now_ms, seen=1, bad=1)


def test_more_than_one_in_a_hundred_ends_the_process() -> None:
    """Past the few, the share within a minute decides, and the message says what to do."""
    guard = PoisonGuard()
    guard.note(0, seen=2_100, bad=21)
    with pytest.raises(TooMuchPoison, match=r"22 of the last 2101 records .* roll back"):
        guard.note(1_000, seen=1, bad=1)


def test_what_is_older_than_a_minute_is_forgotten() -> None:
    """Bad records of an earlier minute do not add up with those of this one."""
    guard = PoisonGuard()
    guard.note(0, seen=20, bad=20)
    guard.note(60_001, seen=20, bad=20)
    with pytest.raises(TooMuchPoison):
        guard.note(120_001, seen=1, bad=1)


def test_good_records_of_an_earlier_minute_do_not_cover_bad_ones() -> None:
    """A release that breaks everything is stopped although the minute before was fine."""
    guard = PoisonGuard()
    guard.note(0, seen=1_000_000, bad=0)
    with pytest.raises(TooMuchPoison):
        guard.note(60_001, seen=21, bad=21)
