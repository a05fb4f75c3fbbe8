"""Lengths of time as people write them in the catalog: "90s", "5m", "24h", "7d"."""

import re

_UNITS = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_DURATION = re.compile(r"([1-9]\d{0,6})([smhd])")


def milliseconds(text: str) -> int | None:
    """Return the length in milliseconds, or None if the text is no duration."""
    match = _DURATION.fullmatch(text)
    return int(match[1]) * _UNITS[match[2]] if match else None
