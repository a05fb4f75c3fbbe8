"""When the demo's day is."""

from datetime import UTC, datetime, timedelta
from datetime import date as Date

from hypothesis import given
from hypothesis import strategies as st

from harkara.demo.timetable import ZONE, day_after


@given(st.integers(1_600_000_000_000, 1_900_000_000_000))
def test_the_day_lies_ahead(now_ms: int) -> None:
    """Morning, night and next morning follow now in this order, within two days and a morning."""
    day = day_after(now_ms)
    assert now_ms < day.morning_ms < day.night_ms < day.next_morning_ms
    assert day.next_morning_ms - now_ms < timedelta(days=2, hours=9) / timedelta(milliseconds=1)


def test_times_are_those_of_dhaka() -> None:
    """From the first of December on, the day is the second: 10:00, 23:30, and 08:05 of the third."""
    day = day_after(round(datetime(2026, 12, 1, 12, tzinfo=UTC).timestamp() * 1000))
    shown = [
        f"{datetime.fromtimestamp(at / 1000, ZONE):%d %H:%M}"
        for at in (day.morning_ms, day.night_ms, day.next_morning_ms)
    ]
    assert shown == ["02 10:00", "02 23:30", "03 08:05"]
    assert day.day == Date(2026, 12, 2)
