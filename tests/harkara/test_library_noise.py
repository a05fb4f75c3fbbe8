"""What libraries say again and again is told once, then ever more rarely."""

import logging

from harkara.library_noise import ORDINARY, Repeats


class Clock:
    """Seconds, moved by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def line(text: object, *values: object) -> logging.LogRecord:
    return logging.LogRecord("aiokafka", logging.ERROR, "client.py", 1, text, values, None)


def test_a_storm_is_one_line() -> None:
    """A thousand complaints about one thing are one line, whatever is filled in."""
    repeats = Repeats(Clock())
    assert sum(repeats.filter(line("no answer of node %s", number)) for number in range(1_000)) == 1


def test_what_stays_wrong_is_told_again_with_its_count() -> None:
    """After a minute the line comes again, and says how often it was held back."""
    clock = Clock()
    repeats = Repeats(clock)
    for second in range(60):
        clock.now = second
        repeats.filter(line("no answer of node %s", 1))
    clock.now = 60
    again = line("no answer of node %s", 1)
    assert repeats.filter(again)
    assert again.getMessage() == "no answer of node 1 (59 more like it since)"


def test_an_outage_of_a_day_is_a_few_lines() -> None:
    """What lasts for long is told ever more rarely."""
    clock = Clock()
    repeats, told = Repeats(clock), 0
    for minute in range(24 * 60):
        clock.now = 60.0 * minute + minute % 2
        told += repeats.filter(line("no answer"))
    assert told < 35


def test_what_comes_back_later_is_new() -> None:
    """The next outage, an hour after the first, is told at once."""
    clock = Clock()
    repeats = Repeats(clock)
    repeats.filter(line("no answer"))
    clock.now = 3_600
    fresh = line("no answer")
    assert repeats.filter(fresh)
    assert fresh.getMessage() == "no answer"


def test_an_ordinary_rebalance_is_not_told() -> None:
    """A step that a library calls a failure, and is none, is left out."""
    assert not Repeats(Clock()).filter(line(ORDINARY[0], "group"))


def test_our_own_lines_all_pass() -> None:
    """Structured lines are ours; who writes them thins them out."""
    repeats = Repeats(Clock())
    assert all(repeats.filter(line({"event": "breaker changed"})) for _ in range(3))
