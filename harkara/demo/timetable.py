"""The instants of the demo's day, on the clock of Dhaka."""

from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from msgspec import Struct

ZONE = ZoneInfo("Asia/Dhaka")


class Timetable(Struct, frozen=True):
    """Where the clock jumps to, in milliseconds since the epoch."""

    morning_ms: int  # 10:00
    night_ms: int  # 23:30
    next_morning_ms: int  # 08:05 of the day after

    @property
    def day(self) -> date:
        """The date of the morning and the night, in Dhaka."""
        return datetime.fromtimestamp(self.morning_ms / 1000, ZONE).date()


def day_after(now_ms: int) -> Timetable:
    """Return the timetable of the day after `now_ms`: clocks only ever move forward."""
    day = datetime.fromtimestamp(now_ms / 1000, ZONE).date() + timedelta(days=1)
    return Timetable(_at(day, time(10, 0)), _at(day, time(23, 30)), _at(day + timedelta(days=1), time(8, 5)))


def _at(day: date, at: time) -> int:
    return round(datetime.combine(day, at, ZONE).timestamp() * 1000)
