"""The same text twice within its window."""

import pytest

from streams.policy.delivering import delivery_of
from streams.reasons import Reason
from streams.records.decision import Suppress
from tests.streams.policy.reader import Reader, sent
from tests.streams.policy.world import HOUR, NOON, at, request


@pytest.mark.parametrize(("hours", "repeated"), [(5, True), (6, False)])
def test_the_same_text_twice_within_its_window_is_a_duplicate(hours: int, repeated: bool) -> None:
    """Six hours, half-open, whatever its data; another template may come (R-133)."""
    reader = Reader()
    assert sent(reader.gets("sale", "n0", NOON))
    assert sent(reader.gets("offer", "n1", NOON))
    later = reader.gets("sale", "n2", NOON + hours * HOUR)
    dropped = [d for d in later if isinstance(d, Suppress)]
    assert [d.reason for d in dropped] == ([Reason.DUPLICATE_CONTENT] * 2 if repeated else [])


def test_the_same_text_may_come_after_the_first_failed() -> None:
    """What was never sent repeats nothing."""
    reader = Reader()
    for decision in reader.gets("sale", "n0", NOON):
        reader.fails(decision, "n0")
    assert sent(reader.gets("sale", "n1", NOON + HOUR))


def test_a_text_never_repeats_itself() -> None:
    """Held for the night, it is sent in the morning: its own place is no earlier copy."""
    reader = Reader()
    wanted = request("sale", notification_id="n0")
    night, morning = at("2026-06-01T23:00:00+06:00"), at("2026-06-02T08:00:00+06:00")
    held = [delivery_of(wanted, decision, night) for decision in reader.gets("sale", "n0", night)]
    assert len(held) == 2
    assert all(sent(reader.returns(delivery, morning)) for delivery in held)
