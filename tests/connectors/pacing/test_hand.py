"""Tokens in hand: who is served first."""

import asyncio

import pytest

from connectors.pacing.hand import Grant, Hand
from streams.topics import Lane


async def test_the_most_urgent_waiter_is_served_first_then_who_came_first() -> None:
    """Two bulk calls waited longer; the critical one still goes first."""
    hand, served = Hand(), list[str]()

    async def wait(lane: int, name: str) -> None:
        assert await hand.wait(lane, 0, 10_000) is not None
        served.append(name)

    tasks = [asyncio.ensure_future(wait(lane, name)) for lane, name in ((2, "b1"), (2, "b2"), (0, "c"))]
    await asyncio.sleep(0)
    for _ in range(3):
        hand.add((0, 0, 1))
        await asyncio.sleep(0)
    await asyncio.gather(*tasks)
    assert served == ["c", "b1", "b2"]


def test_a_lane_never_uses_tokens_of_a_more_urgent_one() -> None:
    """Critical may use what bulk was given; bulk may not use critical's."""
    hand = Hand()
    hand.add((1, 0, 1))
    assert hand.take(2) == Grant(Lane.BULK)
    assert hand.take(2) is None
    hand.add((0, 0, 1))
    assert [hand.take(0), hand.take(0), hand.take(0)] == [Grant(Lane.CRITICAL)] * 2 + [None]


async def test_nobody_overtakes_in_a_lane() -> None:
    """Who comes while others wait gets nothing at once."""
    hand = Hand()
    waiting = asyncio.ensure_future(hand.wait(1, 0, 10_000))
    await asyncio.sleep(0)
    assert hand.take(1) is None
    hand.add((0, 1, 0))
    assert await waiting == Grant(Lane.TRANSACTIONAL)


async def test_a_wait_ends_at_its_time() -> None:
    """Without a token the wait returns none, and its place is gone."""
    hand = Hand()
    assert await hand.wait(0, 0, 1) is None
    assert hand.waiting(0) == 0


@pytest.mark.parametrize("granted", [False, True], ids=["waiting", "just granted"])
async def test_a_cancelled_wait_loses_no_token(granted: bool) -> None:
    """A token that came in the very moment of the cancellation goes back."""
    hand = Hand()
    waiting = asyncio.ensure_future(hand.wait(0, 0, 10_000))
    await asyncio.sleep(0)
    if granted:
        hand.add((1, 0, 0))
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert hand.waiting(0) == 0
    assert hand.tokens == [int(granted), 0, 0]


async def test_who_cannot_be_served_in_time_is_sent_away() -> None:
    """A pause beyond their deadline ends waits at once, so that they can go elsewhere."""
    hand = Hand()
    short, long = (asyncio.ensure_future(hand.wait(2, 0, until_ms)) for until_ms in (10_000, 90_000))
    await asyncio.sleep(0)
    hand.dismiss(60_000)
    assert await short is None
    assert hand.waiting(2) == 1
    hand.add((0, 0, 1))
    assert await long == Grant(Lane.BULK)
