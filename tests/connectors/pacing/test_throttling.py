"""How refusals for rate and outages change who waits how long.

There is no Valkey here: each worker paces itself, which is how sending goes on without it.
"""

import asyncio

import pytest

from connectors.pacing.route import NoTurn, Turn
from streams.outcomes import Throttled
from streams.reasons import Reason
from streams.topics import Lane
from tests.connectors.pacing.scripted import LATE, NOW, SENT, Make, Scripted, send, trip, until


async def test_a_used_up_plan_is_not_asked_again(make: Make) -> None:
    """429 until in six hours: ten thousand waiting messages make no further call (RST-01)."""
    one = Scripted()
    one.answer = lambda: Throttled(6 * 3_600_000, "account", "quota")
    route = make(one)
    await send(route)
    for _ in range(1_000):
        none = await send(route)
        assert isinstance(none, NoTurn)
        assert none.reason is Reason.THROTTLED
        assert none.until_ms > NOW + 5 * 3_600_000
    assert one.calls == 1


async def test_a_long_pause_frees_those_who_wait(make: Make) -> None:
    """Who waits in line when the plan is used up does not wait for its whole deadline."""
    one, two = Scripted("one"), Scripted("two")
    route = make(one, two, rate=5)
    waiting = [asyncio.ensure_future(send(route, "one")) for _ in range(20)]
    waiting += [asyncio.ensure_future(send(route, "one", "two")) for _ in range(2)]
    await until(lambda: one.calls > 0)
    one.answer = lambda: Throttled(6 * 3_600_000, "account", "quota")
    outcomes = await asyncio.gather(*waiting)
    assert outcomes.count(SENT) >= 2
    assert two.calls == 2
    assert all(outcome.until_ms > LATE for outcome in outcomes if isinstance(outcome, NoTurn))


async def test_a_throttled_first_provider_fails_over_if_it_would_be_too_late(make: Make) -> None:
    """A pause within the deadline is waited for; one beyond it is passed over."""
    one, two = Scripted("one"), Scripted("two")
    route = make(one, two)
    one.answer = lambda: Throttled(50, "account", "429")
    await send(route, "one")
    one.answer = lambda: SENT
    assert isinstance(await route.turn("sms", Lane.BULK, ("one", "two"), LATE), Turn)
    assert two.calls == 0
    one.answer = lambda: Throttled(60_000, "account", "429")
    await send(route, "one")
    turn = await route.turn("sms", Lane.BULK, ("one", "two"), NOW + 10_000)
    assert isinstance(turn, Turn)
    assert turn.provider == "two"


@pytest.mark.parametrize(("scope", "slower"), [("account", True), ("sender", True), ("device", False)])
async def test_only_a_shared_quota_slows_the_others(make: Make, scope: str, slower: bool) -> None:
    """One device's limit is no reason to slow the whole account."""
    one = Scripted()
    one.answer = lambda: Throttled(0, scope, "429")
    route = make(one)
    await send(route)
    one.answer = lambda: SENT
    lease = route.lines["one"].leases
    for _ in range(2):
        await asyncio.sleep(0.03)
        await send(route)
    assert lease.last is not None
    assert (lease.last.rate < 10_000) is slower


async def test_429s_never_open_the_breaker(make: Make) -> None:
    """Being refused for rate is no outage."""
    one = Scripted()
    one.answer = lambda: Throttled(0, "account", "429")
    route = make(one)
    for _ in range(100):
        assert isinstance(await send(route), Throttled)
    assert route.lines["one"].breaker.state == "closed"


async def test_critical_goes_before_bulk_that_waits_longer(make: Make) -> None:
    """With twenty tokens a second and a queue of bulk, a one-time password goes next (R-157)."""
    route, order = make(Scripted(), rate=20), list[str]()

    async def one(lane: Lane) -> None:
        assert await send(route, lane=lane) == SENT
        order.append(lane)

    bulk = [asyncio.ensure_future(one(Lane.BULK)) for _ in range(30)]
    await until(lambda: bool(order))
    before = len(order)
    await one(Lane.CRITICAL)
    assert order.index(Lane.CRITICAL) <= before + 1
    for task in bulk:
        task.cancel()
    await asyncio.gather(*bulk, return_exceptions=True)


async def test_after_an_outage_the_pace_starts_low(make: Make) -> None:
    """When the breaker closes, a tenth of the good pace is where it begins again."""
    one = Scripted()
    route = make(one)
    await trip(route, one)
    await asyncio.gather(*(send(route) for _ in range(20)))
    lease = route.lines["one"].leases
    while lease.last is None or lease.last.rate >= 10_000:
        await send(route)
    assert lease.last.rate >= 900
