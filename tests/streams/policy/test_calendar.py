"""Zones, days and windows, through every kind of clock change."""

import os
import subprocess
import sys
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.catalog.hours import minutes_of
from streams.policy.calendar import first_known, instant, known, local_day, next_quiet, quiet_until
from tests.streams.policy.world import DAY, HOUR, at

NEW_YORK = "America/New_York"
ZONES = (
    "Asia/Dhaka",
    "Asia/Kathmandu",
    NEW_YORK,
    "Europe/London",
    "Australia/Lord_Howe",
    "America/Sao_Paulo",
    "Africa/Cairo",
    "Pacific/Apia",
    "UTC",
)
INSTANTS = st.integers(at("2010-01-01T00:00:00Z"), at("2030-01-01T00:00:00Z"))
MINUTES = st.integers(0, 1439)
NIGHT = (22 * 60, 8 * 60)


@pytest.mark.parametrize(
    ("zone", "event", "released"),
    [
        (NEW_YORK, "2026-03-08T06:30:00Z", "2026-03-08T12:00:00Z"),  # QTZ-01: 13:00Z is the bug
        (NEW_YORK, "2026-11-01T05:30:00Z", "2026-11-01T13:00:00Z"),  # QTZ-02
        (NEW_YORK, "2026-11-01T06:30:00Z", "2026-11-01T13:00:00Z"),
        ("Asia/Dhaka", "2026-06-01T16:20:00Z", "2026-06-02T02:00:00Z"),  # QTZ-04
        ("Asia/Kathmandu", "2026-06-01T16:20:00Z", "2026-06-02T02:15:00Z"),
        ("Asia/Kolkata", "2026-06-01T16:20:00Z", "2026-06-01T16:20:00Z"),
        ("Asia/Kolkata", "2026-06-01T16:45:00Z", "2026-06-02T02:30:00Z"),
        ("Asia/Dhaka", "2026-06-01T17:30:00Z", "2026-06-02T02:00:00Z"),  # 23:30
    ],
)
def test_a_message_waits_for_the_end_of_the_night_of_its_reader(zone: str, event: str, released: str) -> None:
    """Through clock changes and odd offsets alike (QTZ-01, QTZ-02, QTZ-04)."""
    assert quiet_until(zone, *NIGHT, at(event)) == at(released)


@pytest.mark.parametrize(
    ("start", "end", "local", "quiet"),
    [
        ("00:00", "08:00", "21:00:00", False),  # QTZ-08
        ("02:00", "01:59", "01:59:00", False),
        ("02:00", "01:59", "02:00:00", True),
        ("22:00", "08:00", "07:59:59.999", True),
        ("22:00", "08:00", "08:00:00", False),
        ("22:00", "08:00", "22:00:00", True),
        ("18:00", "00:00", "23:59:59", True),  # QTZ-09: two spellings of midnight
        ("18:00", "00:00", "00:00:00", False),
        ("18:00", "24:00", "23:59:59", True),
        ("18:00", "24:00", "00:00:00", False),
    ],
)
def test_windows_are_half_open(start: str, end: str, local: str, quiet: bool) -> None:
    """Inside from the start on, outside from the end on (R-122, QTZ-08, QTZ-09)."""
    first, last = minutes_of(start), minutes_of(end)
    assert first is not None
    assert last is not None
    moment = at(f"2026-06-03T{local}+06:00")
    assert (quiet_until("Asia/Dhaka", first, last, moment) > moment) is quiet


@pytest.mark.parametrize("process_zone", ["UTC", "Asia/Seoul", NEW_YORK])
def test_the_machine_s_own_zone_never_counts(process_zone: str) -> None:
    """The same window in a process whose clock is set elsewhere (QTZ-10, R-124)."""
    code = (
        "from streams.policy.calendar import quiet_until as q\n"
        f"moments = {at('2026-06-01T13:30:00Z')}, {at('2026-06-01T04:30:00Z')}\n"
        "print([q('UTC', 780, 0, moment) > moment for moment in moments])"
    )
    environ = {"TZ": process_zone, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environ
    )
    assert done.stdout.strip() == "[True, False]"


def test_a_window_follows_wall_time_through_the_year() -> None:
    """08:00 to 18:00 in Berlin holds 08:30 in January and in July (QTZ-12)."""
    for moment in (at("2026-01-15T07:30:00Z"), at("2026-07-01T06:30:00Z")):
        assert quiet_until("Europe/Berlin", 8 * 60, 18 * 60, moment) > moment


@pytest.mark.parametrize(
    ("zone", "day", "clock", "expected"),
    [
        (NEW_YORK, (2026, 3, 8), "02:30", "2026-03-08T07:30:00Z"),  # SCH-01: a gap
        ("Europe/London", (2026, 3, 8), "02:30", "2026-03-08T02:30:00Z"),
        (NEW_YORK, (2026, 11, 1), "01:30", "2026-11-01T05:30:00Z"),  # SCH-02: twice, the first
        ("Australia/Lord_Howe", (2026, 10, 4), "02:15", "2026-10-03T15:45:00Z"),  # SCH-07: half an hour
        ("Australia/Lord_Howe", (2026, 4, 5), "01:45", "2026-04-04T14:45:00Z"),
        ("America/Sao_Paulo", (2026, 1, 26), "10:00", "2026-01-26T13:00:00Z"),  # SCH-12
        ("Asia/Dhaka", (2026, 1, 26), "10:00", "2026-01-26T04:00:00Z"),
    ],
)
def test_a_local_time_has_one_instant(
    zone: str, day: tuple[int, int, int], clock: str, expected: str
) -> None:
    """After the gap, or the first of two (RFC 5545 3.3.5; SCH-01, SCH-02, SCH-07, SCH-12)."""
    minute = minutes_of(clock)
    assert minute is not None
    assert instant(zone, *day, minute) == at(expected)


@pytest.mark.parametrize(
    "zone",
    [
        "America",
        "",
        "../../etc/passwd",
        "Asia/Dhaka\0",
        "+05:30",
        "asia/dhaka",
        "Asia/Dhaka ",
        "localtime",
        "Etc/GMT+6",
    ],
)
def test_what_is_no_zone_is_known_as_none(zone: str) -> None:
    """None of these raises, and none falls back to the machine's zone (QTZ-05, QTZ-06)."""
    assert not known(zone)
    assert first_known((zone, "Asia/Kolkata")) == "Asia/Kolkata"
    assert first_known((zone, zone)) == "UTC"


def test_an_old_name_of_a_zone_is_a_zone() -> None:
    """`Asia/Dacca` is Dhaka (QTZ-06)."""
    assert known("Asia/Dacca")
    assert instant("Asia/Dacca", 2026, 6, 1, 0) == instant("Asia/Dhaka", 2026, 6, 1, 0)


@pytest.mark.parametrize(("day", "hours"), [("2026-03-08", 23), ("2026-11-01", 25), ("2026-06-01", 24)])
def test_a_local_day_is_as_long_as_it_is(day: str, hours: int) -> None:
    """23 hours in spring, 25 in autumn (CAP-07, SCH-03, SCH-04)."""
    start, end = local_day(NEW_YORK, at(f"{day}T18:00:00Z"))
    assert end - start == hours * HOUR


@given(zone=st.sampled_from(ZONES), moment=INSTANTS)
def test_every_instant_lies_in_its_local_day(zone: str, moment: int) -> None:
    """The day's ends have the date the instant has, and the instants beside it another one."""
    start, end = local_day(zone, moment)

    def date(ms: int) -> object:
        return datetime.fromtimestamp(ms // 1000, UTC).astimezone(ZoneInfo(zone)).date()

    assert start <= moment < end
    assert date(start) == date(moment) == date(end - 1)
    assert date(start - 1) != date(moment) != date(end)


@given(zone=st.sampled_from(ZONES), moment=INSTANTS, start=MINUTES, end=MINUTES)
def test_quiet_hours_end_once_and_exactly(zone: str, moment: int, start: int, end: int) -> None:
    """Whatever zone and window: the release comes after, within a day and an hour, and is itself not quiet.

    Away from clock changes the window holds exactly the local times in [start, end).
    """
    if start == end:
        return
    released = quiet_until(zone, start, end, moment)
    assert moment <= released <= moment + DAY + 2 * HOUR
    assert quiet_until(zone, start, end, released) == released or end == start
    there = ZoneInfo(zone)
    local = datetime.fromtimestamp(moment // 1000, UTC).astimezone(there)
    offsets = {
        datetime.fromtimestamp((moment + shift) // 1000, UTC).astimezone(there).utcoffset()
        for shift in (-2 * DAY, -DAY, 0, DAY, 2 * DAY)
    }
    if len(offsets) == 1:
        minute = local.hour * 60 + local.minute
        inside = start <= minute < end if start < end else minute >= start or minute < end
        assert (released > moment) is inside


@given(zone=st.sampled_from(ZONES), moment=INSTANTS, start=MINUTES, end=MINUTES)
def test_the_next_quiet_hours_begin_after_now(zone: str, moment: int, start: int, end: int) -> None:
    """The start is in the future, at most two days away, and quiet from then on."""
    if start == end:
        return
    begins = next_quiet(zone, start, end, moment)
    assert moment < begins <= moment + 2 * DAY
    assert quiet_until(zone, start, end, begins) > begins


def test_every_minute_of_a_year_of_changes_moves_on() -> None:
    """A release is never before its message, at any minute around this year's changes (SCH-03)."""
    for day in ("2026-03-08", "2026-11-01", "2026-03-29", "2026-10-25"):
        begin = at(f"{day}T00:00:00Z") - 12 * HOUR
        for moment in range(begin, begin + 36 * HOUR, 60_000):
            for zone in (NEW_YORK, "Europe/Helsinki"):
                assert quiet_until(zone, *NIGHT, moment) >= moment
