"""AIMD-H: finds the pace a provider allows from its 429s alone, and follows it when it moves.

Such quotas give no warning by latency, so this controls a rate, not a concurrency. It is cut at
most once a hold, returns in a line to just under the last good pace, stays there, then tries
more, carefully at first and faster while nothing is refused (hyper increase). It grows only
while the pace is what limits us.
"""

from copy import copy

from streams.policy import quota_window
from streams.policy.pace import FIRST_GROWTH, Limits, Pace, Phase, Seen

HOLD_MS = 500  # least time between two cuts
NEAR = 0.97  # of the last good pace: where growing turns from sure to careful
PLATEAU_MS = 3_000
DOUBLE_MS = 2_000
LAST_GROWTH = 0.30  # a second
SLOW_START_MS = 1_500  # a slow start doubles in this time
SLOW_START_FROM = 0.1  # of the last good pace
_DOUBT = 10  # answers that are taken as good: a few 429s alone say little about their share
_PATIENCE, _LONGEST_PATIENCE_MS = 10, 60_000  # a pause is risked again after ten times its length
_RESTART_MS = 10_000  # workers whose breakers close within this time restart together
_LONGEST_STEP_MS = 1_000  # a silence is no reason to leap


def begin(limits: Limits, now_ms: float) -> Pace:
    """Return the memory of a controller that has seen nothing."""
    known = limits.nominal > 0
    rate = min(limits.nominal if known else limits.start, limits.ceiling)
    return Pace(
        at_ms=now_ms,
        rate=rate,
        good=rate if known else 0.0,
        phase=Phase.PLATEAU if known else Phase.SLOW_START,
        since_ms=now_ms,
        grown_ms=now_ms,
        entered_ms=now_ms,
        measured_ms=now_ms,
        window_ms=float(limits.window_ms) if limits.window_ms >= quota_window.LONG_MS else 0.0,
    )


def running_ms(now_ms: float, since_ms: float, paused_ms: float) -> float:
    """Return how much of the time since `since_ms` was not paused, at most a second."""
    return max(0.0, min(now_ms - max(since_ms, min(paused_ms, now_ms)), _LONGEST_STEP_MS))


def step(pace: Pace, limits: Limits, now_ms: float, seen: Seen) -> Pace:
    """Return the memory after `seen`; `pace` itself is left as it was."""
    pace = copy(pace)
    ran_ms = running_ms(now_ms, pace.at_ms, pace.paused_ms)
    _measure(pace, now_ms, ran_ms, seen.used)
    _grow(pace, limits, now_ms, ran_ms)
    if seen.rtt_ms > 0:
        pace.rtt_ms += (seen.rtt_ms - pace.rtt_ms) * (0.3 if pace.rtt_ms > 0 else 1.0)
    if _is_late(pace, now_ms):
        pace.cut_ok += seen.ok
        pace.cut_throttled += seen.throttled
    else:
        pace.ok += seen.ok
        pace.throttled += seen.throttled
    quota_window.count(pace, limits, now_ms, seen.ok)
    if seen.throttled > 0:
        _slow_down(pace, limits, now_ms, seen.after_ms)
    if seen.restart and not pace.utilised:  # else others get through at this very moment
        _restart(pace, limits, now_ms)
    pace.at_ms = now_ms
    return pace


def _measure(pace: Pace, now_ms: float, ran_ms: float, used: float) -> None:
    """Judge, over half a second or four tokens, whether at least 80 % of the pace is used."""
    pace.due += pace.rate * ran_ms / 1000
    pace.used += used
    if now_ms - pace.measured_ms >= max(500.0, 4000 / pace.rate):
        pace.utilised = pace.used + 1 >= 0.8 * pace.due
        pace.used = pace.due = 0.0
        pace.measured_ms = now_ms


def _grow(pace: Pace, limits: Limits, now_ms: float, ran_ms: float) -> None:
    near = max(limits.floor, NEAR * pace.good) if pace.good > 0 else 0.0
    if pace.phase == Phase.RECOVER:
        pace.rate = min(near, pace.rate + max(0.0, near - pace.origin) * ran_ms / limits.recover_ms)
        if pace.rate >= near:
            _enter(pace, Phase.PLATEAU, now_ms)
    elif not pace.utilised:
        pace.growth, pace.grown_ms = FIRST_GROWTH, now_ms
    elif pace.phase == Phase.SLOW_START:
        top = min(near, limits.ceiling) if near > 0 else limits.ceiling
        pace.rate = min(top, pace.rate * 2.0 ** (ran_ms / SLOW_START_MS))
        if pace.rate >= top:
            _enter(pace, Phase.PLATEAU, now_ms)
    elif pace.phase == Phase.PLATEAU:
        if now_ms - pace.since_ms >= max(PLATEAU_MS, pace.patience_ms, pace.window_ms / 2):
            _enter(pace, Phase.PROBE, now_ms)
    else:
        slower = quota_window.slower(pace)
        if now_ms - pace.grown_ms >= DOUBLE_MS * slower:
            pace.growth, pace.grown_ms = min(LAST_GROWTH, 2 * pace.growth), now_ms
        pace.rate = min(limits.ceiling, pace.rate * (1 + pace.growth * ran_ms / (1000 * slower)))
        pace.good = max(pace.good, pace.rate)


def _enter(pace: Pace, phase: Phase, now_ms: float) -> None:
    pace.phase, pace.since_ms = phase, now_ms
    pace.growth, pace.grown_ms = FIRST_GROWTH, now_ms


def _slow_down(pace: Pace, limits: Limits, now_ms: float, after_ms: int) -> None:
    if quota_window.is_long(pace, after_ms):
        if quota_window.close(pace, limits, now_ms, after_ms):
            _enter(pace, Phase.PLATEAU, pace.paused_ms)
        return
    late = _is_late(pace, now_ms)
    if not late and now_ms - pace.cut_ms >= max(HOLD_MS, 2 * pace.rtt_ms):
        pace.peak, pace.cut_ms = pace.rate, now_ms
        pace.cut_ok, pace.cut_throttled = pace.ok, pace.throttled
        pace.ok = pace.throttled = 0.0
        pace.patience_ms = float(min(_PATIENCE * after_ms, _LONGEST_PATIENCE_MS))
        _cut(pace, limits, now_ms)
        if after_ms > quota_window.LONGEST_MS:
            _restart(pace, limits, now_ms)
    elif late and pace.phase == Phase.RECOVER:
        _cut(pace, limits, now_ms)
    if after_ms > 0:
        pace.paused_ms = max(pace.paused_ms, now_ms + after_ms)


def _is_late(pace: Pace, now_ms: float) -> bool:
    """Return whether what is answered now was called before the last pause."""
    return now_ms < pace.paused_ms + pace.rtt_ms


def _cut(pace: Pace, limits: Limits, now_ms: float) -> None:
    """Cut from the peak, by a tenth or by the share of refusals if that is more."""
    refused = pace.cut_throttled / (pace.cut_ok + pace.cut_throttled + _DOUBT)
    kept = max(0.5, 1 - refused)
    pace.good = max(limits.floor, pace.peak * kept)
    pace.rate = pace.origin = max(limits.floor, pace.peak * (0.9 if refused < 0.1 else kept))
    _enter(pace, Phase.RECOVER, now_ms)


def _restart(pace: Pace, limits: Limits, now_ms: float) -> None:
    """Begin again at a tenth of the good pace, once, however many workers ask for it."""
    begun = pace.phase == Phase.SLOW_START and pace.good > 0 and now_ms - pace.since_ms < _RESTART_MS
    if not begun:
        pace.good = pace.good or pace.rate
        pace.rate = min(pace.rate, max(limits.floor, SLOW_START_FROM * pace.good))
        _enter(pace, Phase.SLOW_START, now_ms)
