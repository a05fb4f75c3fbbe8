"""A condition that stays is told once."""

import structlog
from structlog.testing import capture_logs
from structlog.typing import FilteringBoundLogger

from connectors.once import Once


def once() -> Once:
    log: FilteringBoundLogger = structlog.get_logger("test")
    return Once(log)


def test_told_when_it_begins_and_when_it_ends() -> None:
    """A hundred failures make two lines: the first, and the end with how often it came again."""
    told = once()
    with capture_logs() as lines:
        for _ in range(100):
            told.warn("kafka", "kafka does not answer", address="127.0.0.1:9092")
        told.over("kafka", "kafka answers again")
    assert [line["event"] for line in lines] == ["kafka does not answer", "kafka answers again"]
    assert lines[1]["repeats"] == 99


def test_change_of_facts_is_told() -> None:
    """Another reason is news."""
    told = once()
    with capture_logs() as lines:
        told.warn("provider", "paused", reason="quota")
        told.warn("provider", "paused", reason="outage")
        told.warn("valkey", "away")
    assert [line.get("reason") for line in lines] == ["quota", "outage", None]


def test_end_of_what_was_never_told_is_silent() -> None:
    """Everything working all along makes no line, and a condition may begin again."""
    told = once()
    with capture_logs() as lines:
        told.over("kafka", "kafka answers again")
        told.warn("kafka", "away")
        told.over("kafka", "back")
        told.over("kafka", "back")
        told.warn("kafka", "away")
    assert [line["event"] for line in lines] == ["away", "back", "away"]
