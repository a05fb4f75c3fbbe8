"""A turn: one call, or none and everything given back.

There is no Valkey here: each worker paces itself, which is how sending goes on without it.
"""

import asyncio

import pytest

from connectors.pacing.route import Route, Turn
from streams.outcomes import EndpointGone, Outcome, Rejected, Unavailable, Unknown
from streams.reasons import Reason
from streams.topics import Lane
from tests.connectors.pacing.scripted import CALL, LATE, SENT, Make, Scripted, send, trip, until


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
