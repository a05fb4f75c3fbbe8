"""A broken account is left alone, then tried with one call."""

from connectors.pacing.standing import LONGEST_PAUSE_MS, PAUSE_MS, Standing
from tests.connectors.pacing.scripted import Ticks


def test_a_broken_account_is_tried_by_one_call_after_a_pause() -> None:
    """Nobody calls during the pause; then one does, the others wait for what it finds (R-181)."""
    clock = Ticks()
    standing = Standing(clock)
    assert standing.broken()
    assert not standing.admit()
    clock.ms += PAUSE_MS
    assert [standing.admit() for _ in range(5)] == [True] + [False] * 4
    assert standing.worked()
    assert standing.admit()


def test_pauses_grow_while_it_stays_broken() -> None:
    """Each failed trial doubles the pause, up to ten minutes."""
    clock = Ticks()
    standing = Standing(clock)
    standing.broken()
    for _ in range(10):
        clock.ms += standing.refused_ms()
        assert standing.admit()
        assert standing.broken()
    assert standing.refused_ms() == LONGEST_PAUSE_MS


def test_calls_under_way_when_it_broke_do_not_prolong_the_pause() -> None:
    """A hundred errors at once are one error."""
    clock = Ticks()
    standing = Standing(clock)
    assert [standing.broken() for _ in range(100)].count(True) == 1
    assert not standing.worked()
    assert standing.refused_ms() == PAUSE_MS


def test_a_trial_that_was_not_made_leaves_room_for_the_next() -> None:
    """Given back, or never heard of again, it does not keep the account closed."""
    clock = Ticks()
    standing = Standing(clock)
    standing.broken()
    clock.ms += PAUSE_MS
    assert standing.admit()
    standing.release()
    assert standing.admit()
    clock.ms += standing.refused_ms()
    assert standing.admit()
