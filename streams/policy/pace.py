"""The values of the rate controller: what is known, what was seen, what is remembered.

Times are milliseconds on one clock, rates are a second. `connectors/pacing/lease.lua` keeps the
same values under the same names.
"""

from enum import IntEnum

from msgspec import Struct

FIRST_GROWTH = 0.02  # a second, where probing begins


class Phase(IntEnum):
    """What the pace is doing."""

    SLOW_START = 0
    RECOVER = 1
    PLATEAU = 2
    PROBE = 3


class Limits(Struct, frozen=True):
    """What is known about a quota beforehand."""

    nominal: float = 0.0  # where to begin; 0: not known, slow start
    ceiling: float = 1_000_000.0  # never faster
    floor: float = 0.1  # never slower, or nothing could be learnt
    start: float = 10.0  # where a slow start begins
    window_ms: int = 0  # the provider counts over such windows; below 10 s it does not matter
    recover_ms: int = 4_000  # from a cut back to just under the last good pace


class Seen(Struct, frozen=True, gc=False):
    """What happened since the last step."""

    used: float = 0.0  # tokens handed out, less those that came back unused
    ok: int = 0  # calls answered and not refused for rate
    throttled: int = 0  # calls refused for rate
    after_ms: int = 0  # the longest Retry-After among them; 0: none
    rtt_ms: float = 0.0  # 95th percentile of a call; 0: not measured
    restart: bool = False  # a breaker closed: the provider is just back


class Pace(Struct):
    """The controller's memory."""

    at_ms: float
    rate: float
    good: float  # last pace known to be allowed; 0: none yet
    phase: int
    since_ms: float  # when the phase began
    origin: float = 0.0  # rate right after the last cut
    peak: float = 0.0  # rate right before it
    patience_ms: float = 0.0  # the plateau lasts at least so long
    growth: float = FIRST_GROWTH
    grown_ms: float = 0.0  # when growth last doubled
    cut_ms: float = -1e15
    ok: float = 0.0  # since the last cut
    throttled: float = 0.0
    cut_ok: float = 0.0  # what the last cut was judged by
    cut_throttled: float = 0.0
    rtt_ms: float = 0.0
    paused_ms: float = 0.0  # nothing is sent before this instant
    window_ms: float = 0.0  # a long window, declared or observed; 0: none
    observed_ms: float = 0.0  # when a Retry-After last showed it
    entered_ms: float = 0.0  # when the present window began
    served: float = 0.0  # in the present window
    before: float = 0.0  # in the window before
    used: float = 0.0  # since the last measurement
    due: float = 0.0  # what could have been used since then
    measured_ms: float = 0.0
    utilised: bool = False  # the pace is what limits us
