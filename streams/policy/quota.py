"""One provider quota shared by many workers and three lanes: who may send how many calls now.

A bucket fills at the controller's pace and is all there is to give, so workers that come and go
never make it give more. Inside it each worker and lane has a credit that fills at its own share.
The most urgent lane may overdraw the bucket by its reserve: it never waits for what a lower lane
has just taken, the lower lane waits until that is paid back.

`connectors/pacing/lease.lua` is this function in Valkey; a test compares the two call by call.
"""

from collections.abc import Mapping
from math import ceil

from msgspec import Struct
from msgspec.structs import replace

from streams.policy.aimd import begin, running_ms, step
from streams.policy.pace import Limits, Pace, Seen
from streams.policy.shares import fair_level, lane_shares

#: Counts by lane: critical, transactional, bulk.
ByLane = tuple[int, int, int]
RatesByLane = tuple[float, float, float]

_LONGEST_WAIT_MS = 1_000  # after this, ask again: the pace may have changed
_SHORTEST_WAIT_MS = 2
_EXACT = 1e-9  # what floating point may have lost of a whole token


class Sharing(Struct, frozen=True):
    """How a quota is divided."""

    reserves: RatesByLane = (0.2, 0.2, 0.1)  # of the pace, sure to each lane while it asks
    burst_s: float = 0.2  # unused pace is kept for so long
    lease_s: float = 0.08  # a waiting worker is given what its share brings in this time
    largest: int = 100  # tokens in one lease
    member_ms: int = 2_000  # a worker that is silent for so long has no part any more


class Ask(Struct, frozen=True, gc=False):
    """A worker's report of what it did and its wish, in one."""

    member: str
    wants: ByLane = (0, 0, 0)  # tokens now
    demands: RatesByLane = (0.0, 0.0, 0.0)  # tokens a second it could use
    returned: int = 0  # tokens it was given and did not use
    ok: int = 0
    throttled: int = 0
    after_ms: int = 0
    rtt_ms: float = 0.0
    restart: bool = False


class Lease(Struct, frozen=True, gc=False):
    """What a worker may do now, and how things stand."""

    grants: ByLane
    waits_ms: ByLane  # when to ask again for what was not granted; 0: all was granted
    shares: RatesByLane  # tokens a second open to this worker
    alone: float  # tokens a second it falls back to if it can ask no more
    rate: float  # of the whole quota
    good: float
    phase: int
    paused_ms: int  # the provider asked for this much silence
    members: int


class Member(Struct, frozen=True, gc=False):
    """One worker."""

    seen_ms: float
    demands: RatesByLane
    credits: tuple[float, ...]


class Quota(Struct, frozen=True):
    """The shared memory."""

    pace: Pace
    level: float  # tokens in the bucket; negative while an urgent lane's advance is paid back
    members: Mapping[str, Member]


def open_quota(limits: Limits, now_ms: float) -> Quota:
    """Return the memory of a quota that nobody has used."""
    return Quota(begin(limits, now_ms), 1.0, {})


def ask(quota: Quota, limits: Limits, sharing: Sharing, now_ms: float, wish: Ask) -> tuple[Quota, Lease]:
    """Take in a report, grant what is there and fair, and return the memory after it."""
    running = running_ms(now_ms, quota.pace.at_ms, quota.pace.paused_ms)
    seen = Seen(-wish.returned, wish.ok, wish.throttled, wish.after_ms, wish.rtt_ms, wish.restart)
    pace = step(quota.pace, limits, now_ms, seen)
    size = max(1.0, pace.rate * sharing.burst_s)
    level = min(size, quota.level + wish.returned + pace.rate * running / 1000)

    known = quota.members.get(wish.member)
    members = {name: m for name, m in quota.members.items() if now_ms - m.seen_ms < sharing.member_ms}
    me = Member(now_ms, wish.demands, known.credits if known and wish.member in members else ())
    members[wish.member] = me
    own, idle = _own_shares(pace.rate, sharing, members, wish.demands)
    shares = (own[0] + idle, own[1] + idle, own[2] + idle)  # what nobody asks for is open to all

    own_ms = running_ms(now_ms, known.seen_ms, pace.paused_ms) if known and me.credits else 0.0
    paused_ms = max(0, ceil(pace.paused_ms - now_ms))
    grants, waits, credits = [0, 0, 0], [0, 0, 0], [0.0, 0.0, 0.0]
    for lane, share in enumerate(shares):
        most = max(1.0, share * sharing.burst_s)
        credit = min(most, me.credits[lane] + share * own_ms / 1000) if me.credits else most
        spare = max(0.0, level - size / 2)  # others leave it unused, so it is nobody's
        room = level + (max(1.0, sharing.reserves[0] * size) if lane == 0 else 0.0)
        want = wish.wants[lane]
        if paused_ms == 0:
            grants[lane] = max(0, int(min(want, credit + spare, room, sharing.largest) + _EXACT))
        credits[lane] = max(0.0, credit - grants[lane])
        level -= grants[lane]
        if want > grants[lane]:
            least = 1.0 if lane == 0 else max(1.0, min(share * sharing.lease_s, want, sharing.largest))
            wait_s = (least - credits[lane]) / share if share > _EXACT else _LONGEST_WAIT_MS
            waits[lane] = _wait_ms(max(wait_s, (least - room + grants[lane]) / pace.rate), paused_ms)
    members[wish.member] = replace(me, credits=tuple(credits))
    pace.used += sum(grants)
    lease = Lease(
        (grants[0], grants[1], grants[2]),
        (waits[0], waits[1], waits[2]),
        shares,
        max(sum(own) + idle / len(members), pace.rate / len(members) / 2),
        pace.rate,
        pace.good,
        pace.phase,
        paused_ms,
        len(members),
    )
    return Quota(pace, level, members), lease


def _own_shares(
    rate: float, sharing: Sharing, members: Mapping[str, Member], demands: RatesByLane
) -> tuple[list[float], float]:
    """Return one worker's share of each lane, and the pace that nobody asks for."""
    asked = [[m.demands[lane] for m in members.values() if m.demands[lane] > 0] for lane in range(3)]
    lanes = lane_shares(rate, [sum(lane) for lane in asked], sharing.reserves)
    own = [min(demands[lane], fair_level(lanes[lane], asked[lane])) for lane in range(3)]
    return own, max(0.0, rate - sum(lanes))


def _wait_ms(seconds: float, paused_ms: int) -> int:
    wait = max(float(paused_ms), seconds * 1000)
    return int(min(max(ceil(wait - _EXACT), _SHORTEST_WAIT_MS), _LONGEST_WAIT_MS))
