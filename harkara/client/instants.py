"""Instants as a person types them."""

from datetime import UTC, datetime

from streams.catalog.durations import milliseconds
from streams.errors import SettingError

_MEND = "give an instant as +90s, +5m, +2h or +1d from now, as 2026-05-01T08:00+06:00, or in milliseconds"


def read_instant(name: str, text: str, now_ms: int) -> int:
    """Return the instant in milliseconds since the epoch; a time without a zone is UTC.

    Raises SettingError that names what was given wrongly.
    """
    if text.isdecimal():
        return int(text)
    if text.startswith("+"):
        ahead_ms = milliseconds(text[1:])
        if ahead_ms is None:
            raise SettingError(name, _MEND)
        return now_ms + ahead_ms
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        raise SettingError(name, _MEND) from None
    if instant.tzinfo is None:
        instant = instant.replace(tzinfo=UTC)
    return round(instant.timestamp() * 1000)


def show_instant(at_ms: int) -> str:
    """Return an instant for people, in UTC to the second."""
    return f"{datetime.fromtimestamp(at_ms / 1000, UTC):%Y-%m-%d %H:%M:%S} UTC"
