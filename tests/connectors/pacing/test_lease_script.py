"""The Lua script and the Python policy are the same function."""

import random
from importlib import resources

import msgspec
import pytest
from redis.asyncio import Redis

from connectors.pacing.shared_quota import SharedQuota, read_lease
from streams.policy.pace import Limits
from streams.policy.quota import Ask, Lease, Sharing, ask, open_quota

pytestmark = pytest.mark.integration

CLOCK = "local now = clock()"
SHARING = Sharing()
KINDS = (
    Limits(),
    Limits(nominal=50.0, start=1.0),
    Limits(nominal=400.0, ceiling=500.0),
    Limits(start=200.0, window_ms=60_000),
)


def wish(dice: random.Random) -> Ask:
    """Anything that a worker may tell and want."""
    throttled = dice.choice([0] * 12 + [1, 5, 30])
    calm, wild = (0, 0, 0, 500, 1_000), (0, 0, 1_000, 15_000, 60_000, 3_600_000)
    wants = [dice.choice((0, 0, 1, 5, 100)) for _ in range(3)]
    demands = [dice.choice((0.0, 3.0, 100.0, 2_500.0)) * dice.random() for _ in range(3)]
    return Ask(
        dice.choice("abcd"),
        (wants[0], wants[1], wants[2]),
        (demands[0], demands[1], demands[2]),
        returned=dice.choice((0, 0, 0, 3)),
        ok=dice.randrange(100),
        throttled=throttled,
        after_ms=dice.choice(dice.choice((calm, wild))) if throttled else 0,
        rtt_ms=dice.random() * 400,
        restart=dice.random() < 0.02,
    )


def same(ours: Lease, theirs: Lease) -> bool:
    """Counts are equal, rates but for rounding, waits but for the rounding up of a rounded rate."""
    rates = zip(
        (*ours.shares, ours.alone, ours.rate, ours.good),
        (*theirs.shares, theirs.alone, theirs.rate, theirs.good),
        strict=True,
    )
    return (
        ours.grants == theirs.grants
        and (ours.phase, ours.paused_ms, ours.members) == (theirs.phase, theirs.paused_ms, theirs.members)
        and all(abs(a - b) <= 1 for a, b in zip(ours.waits_ms, theirs.waits_ms, strict=True))
        and all(abs(a - b) <= 1e-6 * max(1.0, abs(a)) for a, b in rates)
    )


@pytest.mark.parametrize("seed", range(12))
async def test_script_and_policy_agree_call_by_call(client: Redis, seed: int) -> None:
    """The same story, told to both with the same clock, gives the same leases (R-160)."""
    text = resources.files("connectors.pacing").joinpath("lease.lua").read_text(encoding="utf-8")
    assert text.count(CLOCK) == 1
    script = client.register_script(text.replace(CLOCK, "local now = tonumber(ARGV[4])"))
    dice, limits, now = random.Random(seed), KINDS[seed % len(KINDS)], 1_700_000_000_000
    quota = open_quota(limits, now)
    for _ in range(300):
        told = wish(dice)
        quota, ours = ask(quota, limits, SHARING, now, told)
        arguments: list[bytes | int] = [*map(msgspec.json.encode, (limits, SHARING, told)), now]
        theirs = read_lease(await script(keys=["quota"], args=arguments))
        assert same(ours, theirs)
        now += dice.choice(dice.choice(((0, 1, 7, 50, 80, 200), (900, 3_000, 20_000))))


async def test_the_shared_memory_lapses(client: Redis) -> None:
    """Everything the script writes has a time to live."""
    await SharedQuota(client, "p/a/r", Limits(), SHARING).ask(Ask("m", (0, 0, 1), (0.0, 0.0, 10.0)))
    keys = await client.keys("*")
    assert keys == [b"harkara:pace:{p/a/r}"]
    assert 0 < await client.pttl(keys[0]) <= 600_000


async def test_a_pause_outlives_the_usual_time_to_live(client: Redis) -> None:
    """A provider's "come back in six hours" is not forgotten after ten minutes (RST-01)."""
    shared = SharedQuota(client, "p/a/r", Limits(), SHARING)
    lease = await shared.ask(Ask("m", throttled=1, after_ms=6 * 3_600_000))
    assert lease.paused_ms == 6 * 3_600_000
    assert await client.pttl("harkara:pace:{p/a/r}") > 6 * 3_600_000


@pytest.mark.parametrize("memory", [b"\x81\xa6layout\x63", b"\x07", b"\xc1 garbage"])
async def test_a_memory_of_another_layout_is_begun_anew(client: Redis, memory: bytes) -> None:
    """What another release or nobody we know has written does not stop sending."""
    await client.set("harkara:pace:{p/a/r}", memory)
    lease = await SharedQuota(client, "p/a/r", Limits(nominal=50.0), SHARING).ask(Ask("m"))
    assert lease.rate == 50.0
