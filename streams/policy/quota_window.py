"""Quotas that count over long windows, a minute for example: learn what a window is worth.

Inside such a window a 429 means that the rest of it is closed, so a slower pace does not help: we
pause until the instant the provider names and come back at the pace the window really served.
A much longer wait (a plan used up until tomorrow) is only a pause: it says nothing about a pace.
"""

from streams.policy.pace import Limits, Pace

LONG_MS = 10_000  # from here on a window is long
LONGEST_MS = 120_000  # a longer Retry-After is no window, unless that window was declared
NEAR = 0.97  # of what the window served
_REMEMBERED_WINDOWS = 10  # a window that shows no more is forgotten


def is_long(pace: Pace, after_ms: int) -> bool:
    """Return whether the quota is known, or shows by its Retry-After, to count over a long window."""
    return pace.window_ms > 0 or LONG_MS <= after_ms <= LONGEST_MS


def slower(pace: Pace) -> float:
    """Return how many times slower growing must be for its effect to show before the next step."""
    return max(1.0, pace.window_ms / LONG_MS)


def count(pace: Pace, limits: Limits, now_ms: float, ok: int) -> None:
    """Add served calls to the present window; begin the next when its time is over."""
    pace.served += ok
    lasted_ms = now_ms - pace.entered_ms
    if pace.window_ms > 0 and lasted_ms >= pace.window_ms:
        pace.before = pace.served if lasted_ms < 2 * pace.window_ms else 0.0
        pace.served, pace.entered_ms = 0.0, now_ms
        declared = limits.window_ms >= LONG_MS
        if not declared and now_ms - pace.observed_ms > _REMEMBERED_WINDOWS * pace.window_ms:
            pace.window_ms = 0.0


def close(pace: Pace, limits: Limits, now_ms: float, after_ms: int) -> bool:
    """Pause until the window's end, then take up the pace it served; False if we waited already."""
    if after_ms >= LONG_MS:
        pace.window_ms, pace.observed_ms = max(pace.window_ms, float(after_ms)), now_ms
    end_ms = now_ms + after_ms if after_ms > 0 else max(pace.entered_ms + pace.window_ms, now_ms + 1000)
    if now_ms < pace.paused_ms:
        pace.paused_ms = pace.entered_ms = max(pace.paused_ms, end_ms)
        return False
    lasted_ms = max(pace.window_ms / 2, end_ms - pace.entered_ms)
    worth = max(pace.served / lasted_ms, pace.before / pace.window_ms) * 1000
    pace.good = worth if worth > 0 else pace.rate / 2
    pace.rate = max(limits.floor, NEAR * pace.good)
    pace.paused_ms = pace.entered_ms = end_ms
    pace.served = pace.before = pace.ok = pace.throttled = 0.0
    return True
