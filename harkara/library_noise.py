"""Keeps the libraries' lines readable: ordinary steps are not told, what repeats is told ever more rarely.

While Kafka is away its client complains ten times a second, in every app of a process.
"""

import logging
import time
from collections.abc import Callable

from msgspec import Struct

#: Said as a warning by a library, but an ordinary step.
ORDINARY = ("Heartbeat failed for group %s because it is rebalancing",)

_NEW_S = 600.0
_FIRST_S = 60.0
_LONGEST_S = 3_600.0


class _Told(Struct, gc=False):
    """When a line was last told, how long it is quiet from then on, and how often it was meant since."""

    at_s: float
    quiet_s: float
    seen_s: float
    kept_back: int = 0


class Repeats(logging.Filter):
    """Lets a library's line through once; again after a minute, then after ever longer (up to an hour).

    Lines are the same if their text before formatting is. One that was not heard for ten minutes
    is new. Our own lines are structured, and all pass: `connectors.once` thins them out.
    """

    def __init__(self, now_s: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._now_s = now_s
        self._told: dict[tuple[str, int, str], _Told] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Tell whether the line is written; one that was held back before says how often."""
        if not isinstance(record.msg, str):
            return True
        if record.msg in ORDINARY:
            return False
        key, now_s = (record.name, record.levelno, record.msg), self._now_s()
        told = self._told.get(key)
        if told is None or now_s - told.seen_s >= _NEW_S:
            self._told[key] = _Told(now_s, _FIRST_S, now_s)
            return True
        told.seen_s = now_s
        if now_s - told.at_s < told.quiet_s:
            told.kept_back += 1
            return False
        record.msg = f"{record.msg} ({told.kept_back} more like it since)"
        told.at_s, told.quiet_s, told.kept_back = now_s, min(4 * told.quiet_s, _LONGEST_S), 0
        return True
