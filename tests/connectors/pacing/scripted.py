"""A provider that answers from a script, and a clock and dice that do as they are told."""

import asyncio
from collections.abc import Callable

from connectors.pacing.route import NoTurn, Route, Turn
from connectors.providers.provider import Call
from streams.outcomes import Accepted, Outcome, Unavailable
from streams.rendering.message import SmsMessage
from streams.topics import Lane

CALL = Call("d", "d", "somewhere", SmsMessage("text", 1), 0, 0)
SENT = Accepted("id")
NOW = 1_000_000
LATE = NOW + 600_000
Make = Callable[..., Route]


async def until(true: Callable[[], bool]) -> None:
    """Wait for what another task or process does; the test's own timeout ends it."""
    while not true():  # noqa: ASYNC110  # there is no event to wait for
        await asyncio.sleep(0.005)


class Ticks:
    """A monotonic clock that moves only when told to."""

    def __init__(self) -> None:
        self.ms = 1_000_000.0

    def __call__(self) -> float:
        return self.ms


class Scripted:
    """Answers each call by `answer`; calls wait while `gate` is closed."""

    account = "account"

    def __init__(self, name: str = "one", channel: str = "sms") -> None:
        self.name, self.channel = name, channel
        self.calls = 0
        self.closed = False
        self.answer: Callable[[], Outcome] = lambda: SENT
        self.gate = asyncio.Event()
        self.gate.set()

    async def send(self, call: Call) -> Outcome:
        self.calls += 1
        await self.gate.wait()
        return self.answer()

    async def close(self) -> None:
        self.closed = True


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
