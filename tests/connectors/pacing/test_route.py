"""The route: who is called, who waits, and what the answers change.

There is no Valkey here: each worker paces itself, which is how sending goes on without it.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Callable

import pytest
import structlog
from structlog.testing import capture_logs

from connectors.pacing.breaker import BreakerSettings
from connectors.pacing.building import PacingSettings, build_route, valkey_client
from connectors.pacing.route import NoTurn, Route, Turn
from streams.clock import FixedClock
from streams.outcomes import EndpointGone, Misconfigured, Outcome, Rejected, Throttled, Unavailable, Unknown
from streams.policy.pace import Limits
from streams.reasons import Reason
from streams.topics import Lane
from tests.connectors.pacing.scripted import CALL, SENT, Scripted, until

NOW = 1_000_000
SOON, LATE = NOW + 40, NOW + 600_000
BRIEF = BreakerSettings(open_ms=30)  # real time: tests wait for it
Make = Callable[..., Route]


@pytest.fixture
async def make() -> AsyncIterator[Make]:
    """Build and start routes over scripted providers; a second takes 10,000 calls unless said otherwise."""
    client = valkey_client("redis://127.0.0.1:1")
    made: list[Route] = []

    def start(
        *providers: Scripted,
        rate: float = 10_000,
        breaker: BreakerSettings = BRIEF,
        clock: FixedClock | None = None,
    ) -> Route:
        named = {provider.name: provider for provider in providers}
        settings = PacingSettings(dict.fromkeys(named, Limits(start=rate, ceiling=rate)), breaker=breaker)
        log = structlog.get_logger()
        route = build_route(named, client, "me", clock or FixedClock(NOW), random.Random(1), log, settings)
        route.start()
        made.append(route)
        return route

    yield start
    for route in made:
        await route.close()
    await client.aclose()


async def send(
    route: Route, *names: str, lane: Lane = Lane.BULK, deadline_ms: int = LATE
) -> Outcome | NoTurn:
    """Get a turn and use it."""
    turn = await route.turn("sms", lane, names or ("one",), deadline_ms)
    return await turn.call(CALL) if isinstance(turn, Turn) else turn


async def trip(route: Route, provider: Scripted) -> None:
    """Let a provider fail until its breaker opens."""
    answer, provider.answer = provider.answer, lambda: Unavailable("503")
    while route.lines[provider.name].breaker.state == "closed":
        await send(route, provider.name)
    provider.answer = answer


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


async def test_a_cancelled_turn_gives_token_and_permit_back(make: Make) -> None:
    """A claim that failed costs neither quota nor a probe."""
    one = Scripted()
    route = make(one, rate=2)
    await trip_by_errors(route, one)
    for _ in range(10):
        turn = await route.turn("sms", Lane.BULK, ("one",), LATE)
        assert isinstance(turn, Turn)
        turn.cancel()
        turn.cancel()
    assert route.lines["one"].breaker.state == "half_open"


async def trip_by_errors(route: Route, provider: Scripted) -> None:
    """Open the breaker without spending the quota's few tokens."""
    breaker = route.lines[provider.name].breaker
    provider.answer = lambda: Unknown("timeout")
    while (permit := breaker.admit()) is not None and breaker.state == "closed":
        await breaker.call(permit, provider.send, CALL)
    provider.answer = lambda: SENT


async def test_a_cancelled_wait_loses_nothing(make: Make) -> None:
    """A task that is abandoned while it waits leaves its token to the others."""
    route = make(Scripted(), rate=20)
    waiting = [asyncio.ensure_future(send(route)) for _ in range(30)]
    await asyncio.sleep(0.02)
    for task in waiting[:-1]:
        task.cancel()
    assert await waiting[-1] == SENT
    await asyncio.gather(*waiting, return_exceptions=True)


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


async def test_a_turn_whose_breaker_opened_meanwhile_makes_no_call(make: Make) -> None:
    """Between turn and call lies a claim: an outage seen in that time is heeded."""
    one = Scripted()
    route = make(one)
    turn = await route.turn("sms", Lane.BULK, ("one",), LATE)
    assert isinstance(turn, Turn)
    await trip(route, one)
    calls = one.calls
    outcome = await turn.call(CALL)
    assert isinstance(outcome, Unavailable)
    assert outcome.code == "BREAKER_OPEN"
    assert one.calls == calls


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


@pytest.mark.parametrize("outcome", [Rejected(Reason.REJECTED, "x"), EndpointGone("410"), SENT])
async def test_outcomes_come_back_as_the_provider_gave_them(make: Make, outcome: Outcome) -> None:
    """The route adds nothing to an answer and keeps count of what is in flight."""
    one = Scripted()
    one.answer = lambda: outcome
    one.gate.clear()
    route = make(one)
    sending = asyncio.ensure_future(send(route))
    await until(lambda: one.calls == 1)
    assert route.status()[0].in_flight == 1
    one.gate.set()
    assert await sending == outcome
    assert route.status()[0].in_flight == 0


async def test_a_turn_is_for_one_call(make: Make) -> None:
    """A second call on the same turn is a fault of ours."""
    route = make(Scripted())
    turn = await route.turn("sms", Lane.BULK, ("one",), LATE)
    assert isinstance(turn, Turn)
    await turn.call(CALL)
    with pytest.raises(RuntimeError):
        await turn.call(CALL)


async def test_closing_gives_connections_back(make: Make) -> None:
    """The route owns its providers and leases."""
    one = Scripted()
    route = make(one)
    await send(route)
    await route.close()
    assert one.closed
