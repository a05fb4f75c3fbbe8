"""What every process tells about its pacing."""

import random

import pytest
import structlog
from redis.asyncio import Redis
from structlog.testing import capture_logs

from connectors.pacing.building import PacingSettings, build_route, valkey_client
from connectors.pacing.status import StatusBoard
from streams.clock import FixedClock
from streams.policy.pace import Limits
from streams.topics import Lane
from tests.connectors.pacing.scripted import CALL, Scripted

pytestmark = pytest.mark.integration

NOW = 1_700_000_000_000


async def test_processes_read_each_others_status(client: Redis) -> None:
    """Rates, breakers and what is in flight, by process; all of it lapses."""
    route = build_route(
        {"one": Scripted()},
        client,
        "me",
        FixedClock(NOW),
        random.Random(1),
        structlog.get_logger(),
        PacingSettings({"one": Limits(nominal=200)}),
    )
    route.start()
    turn = await route.turn("sms", Lane.CRITICAL, ("one",), NOW + 1_000)
    assert not hasattr(turn, "reason")
    await turn.call(CALL)
    board = StatusBoard(client, structlog.get_logger())
    await board.publish("me", NOW, route.status())
    await board.publish("other", NOW, ())
    (me, other) = sorted(await board.read(), key=lambda status: status.member)
    assert (me.member, other.member, other.providers) == ("me", "other", ())
    (one,) = me.providers
    assert (one.provider, one.channel, one.account) == ("one", "sms", "account")
    assert (one.rate, one.phase, one.breaker, one.workers) == (200, "plateau", "closed", 1)
    assert (one.calls, one.errors, one.in_flight, one.is_local) == (1, 0, 0, False)
    assert all([await client.pttl(key) > 0 for key in await client.keys("harkara:pacing*")])
    await route.close()


async def test_who_stops_publishing_is_gone(client: Redis) -> None:
    """The others' next word drops a process that was silent for ten seconds."""
    board = StatusBoard(client, structlog.get_logger())
    await board.publish("old", NOW, ())
    await board.publish("new", NOW + 10_001, ())
    assert [status.member for status in await board.read()] == ["new"]


async def test_without_valkey_publishing_is_silent() -> None:
    """A status that cannot be told stops nothing and is logged once."""
    client = valkey_client("redis://127.0.0.1:1")
    board = StatusBoard(client, structlog.get_logger())
    with capture_logs() as lines:
        for _ in range(3):
            await board.publish("me", NOW, ())
    assert [line["event"] for line in lines] == ["status is not published"]
    await client.aclose()
