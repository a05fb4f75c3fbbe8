"""A provider with a hidden, moving limit, and workers that send as fast as they are let."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from heapq import heapify, heapreplace
from itertools import pairwise
from math import ceil
from typing import Protocol

from streams.policy.pace import Limits
from streams.policy.quota import Ask, Sharing, ask, open_quota

RTT_MS = 80
IN_FLIGHT = 256
REPORT_MS = 200
Trace = tuple[tuple[int, float], ...]  # (from ms, calls a second)
UNKNOWN = Limits(start=150.0)
STEP: Trace = ((0, 400.0), (80_000, 120.0), (160_000, 400.0))


class Hidden(Protocol):
    """What a provider counts by; `admit` answers None or a Retry-After in ms (0: not said)."""

    def admit(self, now_ms: float, limit: float) -> int | None: ...


@dataclass
class Bucket:
    """Refuses what exceeds a token bucket of `burst_s`."""

    burst_s: float = 0.2
    level: float = 1e9
    at_ms: float = 0.0

    def admit(self, now_ms: float, limit: float) -> int | None:
        self.level = min(max(1.0, limit * self.burst_s), self.level + (now_ms - self.at_ms) * limit / 1000)
        self.at_ms = now_ms
        if self.level < 1:
            return 0
        self.level -= 1
        return None


@dataclass
class Window:
    """Refuses what exceeds a fixed window; names its end if `tells`, rounded up to `whole_ms`."""

    window_ms: int
    tells: bool
    whole_ms: int = 1
    number: int = -1
    left: float = 0.0

    def admit(self, now_ms: float, limit: float) -> int | None:
        if (number := int(now_ms // self.window_ms)) != self.number:
            self.number, self.left = number, limit * self.window_ms / 1000
        if self.left < 1:
            rest_ms = (number + 1) * self.window_ms - now_ms
            return ceil(rest_ms / self.whole_ms) * self.whole_ms if self.tells else 0
        self.left -= 1
        return None


@dataclass
class Result:
    """What came of a trace."""

    sent: list[int]  # served, by worker
    refused: int = 0
    could: float = 0.0  # what the hidden limit would have let through
    rates: list[tuple[float, float]] = field(default_factory=list)  # (ms, pace)
    refusals: list[float] = field(default_factory=list)  # ms

    @property
    def utilisation(self) -> float:
        return sum(self.sent) / self.could

    @property
    def share_429(self) -> float:
        return self.refused / (self.refused + sum(self.sent))

    @property
    def jain(self) -> float:
        return sum(self.sent) ** 2 / (len(self.sent) * sum(n * n for n in self.sent))

    def settled_s(self, drop_ms: float) -> float:
        """Seconds from a drop until a second with at most 5 refusals begins."""
        after = [ms for ms in self.refusals if ms >= drop_ms]
        for second in range(60):
            start = drop_ms + second * 250
            if sum(start <= ms < start + 1000 for ms in after) <= 5:
                return second / 4
        return 60.0

    def regained_s(self, rise_ms: float, limit: float) -> float:
        """Seconds from a rise until the pace is 90 % of the limit."""
        return next((ms - rise_ms for ms, r in self.rates if ms >= rise_ms and r >= 0.9 * limit), 6e4) / 1000


def limit_at(trace: Trace, now_ms: float) -> float:
    return next(limit for from_ms, limit in reversed(trace) if now_ms >= from_ms)


def run(
    hidden: Hidden,
    workers: int = 4,
    trace: Trace = STEP,
    end_ms: int = 240_000,
    limits: Limits = UNKNOWN,
    jitter: Callable[[], float] = lambda: 0.5,
) -> Result:
    """Send as much as the shared quota allows until `end_ms`; `jitter` in [0, 1) moves round trips."""
    sharing = Sharing()
    quota = open_quota(limits, 0)
    answers: list[deque[tuple[float, int | None]]] = [deque() for _ in range(workers)]
    result = Result([0] * workers)
    result.could = sum(
        (until - start) * limit / 1000 for (start, limit), (until, _) in pairwise((*trace, (end_ms, 0.0)))
    )
    polls = [(worker * 7.0, worker) for worker in range(workers)]
    heapify(polls)
    while polls[0][0] < end_ms:
        now_ms, worker = polls[0]
        ok, refused, after_ms = 0, 0, 0
        waiting = answers[worker]
        while waiting and waiting[0][0] <= now_ms:
            _, answer = waiting.popleft()
            if answer is None:
                ok += 1
            else:
                refused, after_ms = refused + 1, max(after_ms, answer)
        free = IN_FLIGHT - len(waiting)
        wish = Ask(
            str(worker),
            (0, 0, min(100, free)),
            (0.0, 0.0, 10.0 * free),
            ok=ok,
            throttled=refused,
            after_ms=after_ms,
            rtt_ms=RTT_MS * 1.2,
        )
        quota, lease = ask(quota, limits, sharing, now_ms, wish)
        for _ in range(sum(lease.grants)):
            answer = hidden.admit(now_ms, limit_at(trace, now_ms))
            waiting.append((now_ms + RTT_MS * (0.8 + 0.4 * jitter()), answer))
            if answer is None:
                result.sent[worker] += 1
            else:
                result.refused += 1
                result.refusals.append(now_ms)
        result.rates.append((now_ms, lease.rate))
        wait_ms = min(max(lease.waits_ms) or 20, 20 if refused else REPORT_MS)
        heapreplace(polls, (now_ms + wait_ms + jitter(), worker))
    return result
