"""Reads what a person types for a moment, and shows moments."""

import re
from datetime import UTC, datetime
from typing import Final

from streams.errors import HarkaraError

_AGO: Final = re.compile(r"(\d{1,6})(m|h|d)")
_MS: Final = {"m": 60_000, "h": 3_600_000, "d": 86_400_000}


class UnknownMoment(HarkaraError):
    """A moment that cannot be read."""


def moment_ms(text: str, now_ms: int) -> int:
    """Return the moment in milliseconds: `90m`, `24h`, `7d` ago, or an ISO date or time (UTC).

    Raises UnknownMoment.
    """
    ago = _AGO.fullmatch(text)
    if ago is not None:
        return now_ms - int(ago[1]) * _MS[ago[2]]
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        raise UnknownMoment(f"{text!r} is no moment: give 90m, 24h, 7d, or 2026-12-01T08:00") from None
    return int((read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp() * 1000)


def shown(moment: int | None) -> str:
    """Return a moment in UTC to the millisecond, or a dash."""
    if not moment:
        return "-"
    return datetime.fromtimestamp(moment / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
