"""How long a provider asks us to wait."""

from email.utils import parsedate_to_datetime

from multidict import CIMultiDictProxy

_DAY_MS = 86_400_000


def retry_after_ms(headers: CIMultiDictProxy[str]) -> int | None:
    """Return the wait that `Retry-After` names, at most a day, or None when there is none to read.

    Seconds or an HTTP date; a date is read against the answer's own `Date`, so that neither
    clock needs to be right.
    """
    asked = headers.get("Retry-After", "").strip()
    if asked.isascii() and asked.isdigit():
        return min(int(asked[:9]) * 1000, _DAY_MS)
    try:
        wait = parsedate_to_datetime(asked) - parsedate_to_datetime(headers.get("Date", ""))
    except (ValueError, TypeError):  # not a date, or one of the two has no zone
        return None
    return min(max(int(wait.total_seconds() * 1000), 0), _DAY_MS)
