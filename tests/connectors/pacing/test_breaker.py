"""The breaker: what opens it, what does not, and how it comes back."""

import asyncio
import random
from collections.abc import Awaitable, Callable

import pytest

from connectors.pacing.breaker import Breaker, BreakerChange, BreakerSettings
from connectors.providers.provider import Call
from streams.outcomes import (
    Accepted,
    EndpointGone,
    Misconfigured,
    Outcome,
    Rejected,
    Throttled,
    Unavailable,
    Unknown,
)
from streams.reasons import Reason
from tests.connectors.pacing.scripted import CALL, SENT, Scripted, Ticks

DOWN = Unavailable("503")
Send = Callable[[Call], Awaitable[Outcome]]


class Rig:
    """A breaker with its clock and the changes it told of."""

    def __init__(self) -> None:
        self.clock = Ticks()
        self.breaker = Breaker("one/account", random.Random(1), BreakerSettings(), self.clock)
        self.told: list[BreakerChange] = []
        self.breaker.listen(self.told.append)

    async def call(self, outcome: Outcome, took_ms: float = 50) -> bool:
        """Make a call with this outcome; False if it was refused."""

        async def send(_: Call) -> Outcome:
            self.clock.ms += took_ms
            return outcome

        permit = self.breaker.admit()
        if permit is None:
            return False
        assert await self.breaker.call(permit, send, CALL) == outcome
        return True

    async def trip(self) -> None:
        for _ in range(20):
            await self.call(DOWN)
        assert self.breaker.state == "open"

    async def half_open(self) -> None:
        await self.trip()
        self.clock.ms += self.breaker.refused_ms() + 1


@pytest.fixture
def rig() -> Rig:
    return Rig()


async def test_it_opens_when_most_calls_fail(rig: Rig) -> None:
    """80 % errors between successes open it after 20 calls, with the evidence (R-193, FAI-01)."""
    for number in range(20):
        assert await rig.call(SENT if number % 5 == 4 else DOWN)
    assert not await rig.call(SENT)
    (change,) = rig.told
    assert (change.old, change.new, change.calls, change.errors) == ("closed", "open", 20, 16)
    assert 4_000 <= change.open_ms <= 6_000


async def test_a_single_error_never_opens_it(rig: Rig) -> None:
    """One 503 in a thousand sends changes nothing (FAI-01)."""
    for number in range(1_000):
        assert await rig.call(DOWN if number == 500 else SENT, took_ms=5)
    assert rig.told == []


async def test_few_calls_are_no_evidence(rig: Rig) -> None:
    """19 failures are not judged, and what is older than ten seconds is forgotten."""
    for _ in range(3):
        for _ in range(19):
            assert await rig.call(DOWN, took_ms=1)
        rig.clock.ms += 10_000
    assert rig.told == []


@pytest.mark.parametrize(
    "outcome",
    [
        Throttled(1_000, "account", "429"),
        Rejected(Reason.REJECTED, "400"),
        EndpointGone("410"),
        Misconfigured("account", "401"),
    ],
    ids=lambda outcome: type(outcome).__name__,
)
async def test_a_clear_answer_is_no_failure(rig: Rig, outcome: Outcome) -> None:
    """429s, refusals, dead endpoints and our own credentials never open it (UNS-08)."""
    for _ in range(200):
        assert await rig.call(outcome)
    assert rig.told == []


async def test_throttling_does_not_dilute_errors(rig: Rig) -> None:
    """429s say nothing about whether it works, so they are not counted as successes either."""
    for _ in range(20):
        await rig.call(Throttled(0, "account", "429"))
        await rig.call(Unknown("timeout"))
    assert rig.breaker.state == "open"


async def test_slow_answers_open_it(rig: Rig) -> None:
    """A provider that answers, but far slower than usual, is as good as down."""
    for _ in range(50):
        await rig.call(SENT, took_ms=100)
    rig.clock.ms += 10_000
    for _ in range(20):
        await rig.call(SENT, took_ms=400)
    assert rig.told == []
    rig.clock.ms += 10_000
    calls = [asyncio.ensure_future(slow_call(rig)) for _ in range(20)]
    await asyncio.sleep(0)
    rig.clock.ms += 2_500
    await asyncio.gather(*calls)
    assert rig.breaker.state == "open"
    assert rig.told[0].slow == 20


async def slow_call(rig: Rig) -> None:
    async def send(_: Call) -> Outcome:
        await asyncio.sleep(0)
        return SENT

    permit = rig.breaker.admit()
    assert permit is not None
    await rig.breaker.call(permit, send, CALL)


async def test_a_provider_that_is_always_slow_is_not_punished(rig: Rig) -> None:
    """Slow is measured against what is usual there: three seconds are normal for some."""
    for _ in range(60):
        assert await rig.call(SENT, took_ms=400)
    for took_ms in range(400, 3_200, 20):
        assert await rig.call(SENT, took_ms=took_ms)
    for _ in range(60):
        assert await rig.call(SENT, took_ms=3_000)
    assert rig.told == []


async def test_half_open_admits_three_of_fifty_and_closes_after_three(rig: Rig) -> None:
    """The herd waits while three probes look."""
    await rig.half_open()
    provider = Scripted()
    provider.gate.clear()
    permits = [permit for _ in range(50) if (permit := rig.breaker.admit()) is not None]
    assert len(permits) == 3
    probes = [asyncio.ensure_future(rig.breaker.call(permit, provider.send, CALL)) for permit in permits]
    await asyncio.sleep(0)
    assert rig.breaker.state == "half_open"
    assert rig.breaker.refused_ms() > 0
    provider.gate.set()
    await asyncio.gather(*probes)
    assert [change.new for change in rig.told] == ["open", "half_open", "closed"]
    assert await rig.call(SENT)


async def test_a_failed_probe_opens_it_for_longer(rig: Rig) -> None:
    """Open times double up to a minute, each with jitter, and one answer before does not help."""
    await rig.half_open()
    opened = [rig.told[0].open_ms]
    for _ in range(6):
        assert await rig.call(SENT)
        assert await rig.call(DOWN)
        opened.append(rig.told[-1].open_ms)
        rig.clock.ms += rig.breaker.refused_ms() + 1
    for number, open_ms in enumerate(opened):
        assert 0.8 * min(5_000 * 2**number, 60_000) <= open_ms <= 1.2 * min(5_000 * 2**number, 60_000)


async def test_a_cancelled_probe_gives_its_permit_back(rig: Rig) -> None:
    """Cancelled calls and calls never made leave no trace."""
    await rig.half_open()
    provider = Scripted()
    provider.gate.clear()
    for _ in range(10):
        permit = rig.breaker.admit()
        assert permit is not None
        probe = asyncio.ensure_future(rig.breaker.call(permit, provider.send, CALL))
        await asyncio.sleep(0)
        probe.cancel()
        await asyncio.gather(probe, return_exceptions=True)
        unused = rig.breaker.admit()
        assert unused is not None
        rig.breaker.release(unused)
    assert rig.breaker.state == "half_open"
    assert sum(rig.breaker.admit() is not None for _ in range(50)) == 3


async def test_permits_that_nobody_gave_back_lapse(rig: Rig) -> None:
    """Three lost permits do not keep a provider closed for ever."""
    await rig.half_open()
    assert sum(rig.breaker.admit() is not None for _ in range(5)) == 3
    rig.clock.ms += 60_001
    assert rig.breaker.admit() is not None


async def test_our_own_errors_never_count(rig: Rig) -> None:
    """An exception of our own code passes through; a probe's does not open or close anything."""

    async def broken(_: Call) -> Outcome:
        raise TypeError("ours")

    async def fail() -> None:
        permit = rig.breaker.admit()
        assert permit is not None
        with pytest.raises(TypeError):
            await rig.breaker.call(permit, broken, CALL)

    for _ in range(30):
        await fail()
    assert rig.told == []
    await rig.half_open()
    for _ in range(5):
        await fail()
    assert rig.breaker.state == "half_open"


async def test_a_permit_from_before_the_opening_makes_no_call(rig: Rig) -> None:
    """Who waited for its claim while the breaker opened does not call a provider known to be down."""
    permit = rig.breaker.admit()
    assert permit is not None
    await rig.trip()
    provider = Scripted()
    assert await rig.breaker.call(permit, provider.send, CALL) is None
    assert provider.calls == 0


async def test_stragglers_neither_open_nor_close(rig: Rig) -> None:
    """Calls from before the opening that end during the probes say nothing new (FAI-02)."""
    provider = Scripted()
    provider.gate.clear()
    provider.answer = lambda: Unknown("timeout")
    permits = [rig.breaker.admit() for _ in range(30)]
    stragglers = [
        asyncio.ensure_future(rig.breaker.call(permit, provider.send, CALL)) for permit in permits if permit
    ]
    await asyncio.sleep(0)
    await rig.half_open()
    assert await rig.call(SENT)
    provider.gate.set()
    await asyncio.gather(*stragglers)
    assert rig.breaker.state == "half_open"
    assert await rig.call(SENT)
    assert await rig.call(Accepted("other"))
    assert rig.breaker.state == "closed"
    assert rig.breaker.window.calls == 0


async def test_it_does_not_flap(rig: Rig) -> None:
    """A provider that works for probes only is left alone for longer and longer (FAI-02)."""
    for _ in range(6):
        await rig.trip()
        rig.clock.ms += rig.breaker.refused_ms() + 1
        for _ in range(3):
            assert await rig.call(SENT)
        assert rig.breaker.state == "closed"
    opened = [change.open_ms for change in rig.told if change.new == "open"]
    assert opened[-1] >= 48_000
    rig.clock.ms += 61_000
    await rig.trip()
    assert rig.told[-1].open_ms <= 6_000
