"""Hours of the day as people write them: "HH:MM", and windows "22:00-08:00"."""

import re

from streams.catalog.category import QuietHours

DAY_MINUTES = 24 * 60
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})", re.ASCII)


def minutes_of(text: str) -> int | None:
    """Return minutes after midnight, or None; "24:00" is the next midnight, so the same as "00:00"."""
    match = _CLOCK.fullmatch(text)
    if match is None or int(match[2]) > 59:
        return None
    minutes = int(match[1]) * 60 + int(match[2])
    return minutes % DAY_MINUTES if minutes <= DAY_MINUTES else None


def window_of(text: str) -> QuietHours | None:
    """Return the window "start-end", or None; one whose ends are equal is none (QTZ-07)."""
    start_text, _, end_text = text.partition("-")
    start, end = minutes_of(start_text.strip()), minutes_of(end_text.strip())
    if start is None or end is None or start == end:
        return None
    return QuietHours(start, end)
