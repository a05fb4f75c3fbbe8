"""The route: who is called, and who waits for whom.

There is no Valkey here: each worker paces itself, which is how sending goes on without it.
"""

import asyncio

from structlog.testing import capture_logs

from connectors.pacing.breaker import BreakerSettings
from connectors.pacing.route import NoTurn, Turn
from streams.clock import FixedClock
from streams.outcomes import Misconfigured
from streams.reasons import Reason
from streams.topics import Lane
from tests.connectors.pacing.scripted import CALL, LATE, NOW, SENT, Make, Scripted, send, trip, until


async def test_the_first_provider_that_works_is_called(make: Make) -> None:
    """In order, and the second only while the first one's breaker is open (R-195)."""
    one, two = Scripted("one"), Scripted("two")
    route = make(one, two, breaker=BreakerSettings())
    turn = await route.turn("sms", Lane.BULK, ("one", "two"), LATE)
    assert isinstance(turn, Turn)
    assert turn.provider == "one"
    assert await turn.call(CALL) == SENT
    await trip(route, one)
    turn = await route.turn("sms", Lane.BULK, ("one", "two"), LATE)
    assert isinstance(turn, Turn)
    assert turn.provider == "two"
    turn.cancel()


async def test_a_single_provider_that_recovers_is_waited_for(make: Make) -> None:
    """No second provider is no error: it is tried again and delivers (FAI-03)."""
    one = Scripted()
    route = make(one)
    await trip(route, one)
    assert await asyncio.gather(*(send(route) for _ in range(50))) == [SENT] * 50
    assert route.lines["one"].breaker.state == "closed"


async def test_an_open_breaker_past_the_deadline_is_no_turn(make: Make) -> None:
    """Who cannot wait is told when it is worth coming back, and nobody is called."""
    one = Scripted()
    route = make(one, breaker=BreakerSettings())
    await trip(route, one)
    calls = one.calls
    for _ in range(100):
        none = await send(route, deadline_ms=NOW + 1_000)
        assert isinstance(none, NoTurn)
        assert none.reason is Reason.BREAKER_OPEN
        assert NOW + 3_000 < none.until_ms <= NOW + 6_000
    assert one.calls == calls


async def test_probes_are_three_at_a_time(make: Make) -> None:
    """Fifty wait for a provider that is coming back; three calls look, then all go."""
    one = Scripted()
    route = make(one)
    await trip(route, one)
    one.gate.clear()
    calls = one.calls
    waiting = [asyncio.ensure_future(send(route)) for _ in range(50)]
    await until(lambda: one.calls >= calls + 3)
    await asyncio.sleep(0.02)
    assert one.calls == calls + 3
    one.gate.set()
    assert await asyncio.gather(*waiting) == [SENT] * 50


async def test_waiting_costs_no_loop(make: Make) -> None:
    """Two hundred that wait for a breaker look at the clock a few times, not all the time."""

    class Counting(FixedClock):
        looks = 0

        def now_ms(self) -> int:
            self.looks += 1
            return super().now_ms()

    clock, one = Counting(NOW), Scripted()
    route = make(one, breaker=BreakerSettings(open_ms=60_000), clock=clock)
    await trip(route, one)
    clock.looks = 0
    waiting = [asyncio.ensure_future(send(route)) for _ in range(200)]
    await asyncio.sleep(0.1)
    assert clock.looks <= 400
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)


async def test_nobody_configured_is_no_turn(make: Make) -> None:
    """An unknown provider, none at all, or one of another channel: come again later."""
    route = make(Scripted(channel="push"))
    for names in ((), ("one",), ("nobody",)):
        none = await route.turn("sms", Lane.BULK, names, LATE)
        assert isinstance(none, NoTurn)
        assert none.reason is Reason.CHANNEL_UNAVAILABLE


async def test_a_broken_account_pauses_the_provider_and_alerts_once(make: Make) -> None:
    """401: no further call is burnt, one line is logged, other providers go on (R-181, R-324)."""
    one, two = Scripted("one"), Scripted("two")
    route = make(one, two)
    one.answer = lambda: Misconfigured("account", "401")
    with capture_logs() as lines:
        turns = [await route.turn("sms", Lane.BULK, ("one",), LATE) for _ in range(20)]
        for turn in turns:
            assert isinstance(turn, Turn)
            await turn.call(CALL)
        none = await route.turn("sms", Lane.BULK, ("one",), NOW + 1_000)
    assert isinstance(none, NoTurn)
    assert none.reason is Reason.PROVIDER_MISCONFIGURED
    assert await send(route, "one", "two") == SENT
    assert [line["event"] for line in lines if "account" in line["event"]] == ["provider refuses our account"]
    assert route.lines["one"].breaker.state == "closed"


async def test_a_fault_of_one_country_or_platform_stops_nobody_else(make: Make) -> None:
    """Only what concerns the whole account pauses the provider."""
    one = Scripted()
    one.answer = lambda: Misconfigured("country:+880", "21408")
    route = make(one)
    await send(route)
    one.answer = lambda: SENT
    assert await send(route) == SENT
