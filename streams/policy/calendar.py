"""Local time: the only code that knows zones and days.

Zones come from the pinned `tzdata` package, never from the machine, so that every process decides
alike (SCH-12). A local time that a clock change skips is the instant after the gap; one that
happens twice is its first (RFC 5545 3.3.5). Windows are half-open and belong to the day they
start (QTZ-11). Results are cached by zone and hour.
"""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from importlib.resources import files
from zoneinfo import ZoneInfo

HOUR_MS = 3_600_000
_UTC = "UTC"
# Names whose sign reads inverted, and placeholders that are no zone (QTZ-06).
_MISLEADING = ("Etc/GMT+", "Etc/GMT-", "GMT+", "GMT-", "Factory")


@lru_cache(maxsize=1)
def _names() -> frozenset[str]:
    names = files("tzdata").joinpath("zones").read_text(encoding="ascii").split()
    return frozenset(name for name in names if not name.startswith(_MISLEADING))


def known(zone: str) -> bool:
    """Tell whether this is the name of an IANA zone, spelled exactly."""
    return zone in _names()


def first_known(zones: Iterable[str]) -> str:
    """Return the first zone that exists, UTC if none does: never the machine's own."""
    for zone in zones:
        if zone and zone in _names():
            return zone
    return _UTC


@lru_cache(maxsize=1024)
def _zone(name: str) -> ZoneInfo:
    with files("tzdata").joinpath("zoneinfo", *name.split("/")).open("rb") as file:
        return ZoneInfo.from_file(file, key=name)


def instant(zone: str, year: int, month: int, day: int, minute: int) -> int:
    """Return the instant, in ms, of a local day's `minute` after midnight (up to 24 h)."""
    local = datetime(year, month, day) + timedelta(minutes=minute)
    return round(local.replace(tzinfo=_zone(zone)).timestamp() * 1000)


def _local(zone: str, at_ms: int) -> datetime:
    return datetime.fromtimestamp(at_ms // 1000, UTC).astimezone(_zone(zone))


def _on(zone: str, day: datetime, offset: int, minute: int) -> int:
    """Return the instant of `minute` on the local day `offset` days after `day`."""
    other = day.date() + timedelta(days=offset)
    return instant(zone, other.year, other.month, other.day, minute)


@lru_cache(maxsize=50_000)
def _day_of_hour(zone: str, hour: int) -> tuple[int, int]:
    day = _local(zone, hour * HOUR_MS)
    return _on(zone, day, 0, 0), _on(zone, day, 1, 0)


def local_day(zone: str, at_ms: int) -> tuple[int, int]:
    """Return the first instant of the local day that holds `at_ms`, and the first one after it."""
    hour = at_ms // HOUR_MS
    start, end = _day_of_hour(zone, hour)
    return (start, end) if at_ms < end else _day_of_hour(zone, hour + 1)


@lru_cache(maxsize=50_000)
def _windows(zone: str, start: int, end: int, hour: int) -> tuple[tuple[int, int], ...]:
    """Return the windows around an hour, in order: from the day before to the day after."""
    day = _local(zone, hour * HOUR_MS)
    over_midnight = 0 if start < end else 1
    found = []
    for offset in (-1, 0, 1):
        opens, closes = _on(zone, day, offset, start), _on(zone, day, offset + over_midnight, end)
        if opens < closes and closes > hour * HOUR_MS:  # a clock change can swallow one whole
            found.append((opens, closes))
    return tuple(found)


def quiet_until(zone: str, start: int, end: int, at_ms: int) -> int:
    """Return the end of the window [start, end) that holds `at_ms`, or `at_ms` itself if none does.

    `start` and `end` are minutes after local midnight.
    """
    for opens, closes in _windows(zone, start, end, at_ms // HOUR_MS):
        if opens <= at_ms < closes:
            return closes
    return at_ms


def next_quiet(zone: str, start: int, end: int, at_ms: int) -> int:
    """Return the first instant after `at_ms` at which the window opens."""
    for opens, _ in _windows(zone, start, end, at_ms // HOUR_MS):
        if opens > at_ms:
            return opens
    return _windows(zone, start, end, at_ms // HOUR_MS + 24)[-1][0]
