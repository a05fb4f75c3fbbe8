"""What follows each outcome: waits, limits and ends."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

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
from streams.policy.delivering import delivery_of
from streams.policy.next_step import IN_PLACE_MS, LEAST_WAIT_MS, Final, Later, NextStep, Retry, next_step
from streams.reasons import Reason
from streams.records.delivery import Delivery
from streams.statuses import Status
from tests.streams.policy.world import HOUR, NOON, catalog, decided, request, user

DOWN = Unavailable("503")


def delivery(kind: str = "order", attempt: int = 1, uncounted: int = 0, name: str = "n1") -> Delivery:
    """Return a delivery whose attempt was just made."""
    wanted = request(kind, notification_id=name)
    made = delivery_of(wanted, decided(wanted, user(), NOON)[0], NOON)
    return replace(made, attempt=attempt, uncounted=uncounted)


def step(outcome: Outcome, of: Delivery, now_ms: int = NOON) -> NextStep:
    """Return what follows."""
    return next_step(outcome, of, catalog().type(of.type), now_ms)


@pytest.mark.parametrize(
    ("outcome", "status", "reason", "dead_letter"),
    [
        (Accepted("m1"), Status.SENT, None, False),
        (EndpointGone("UNREGISTERED"), Status.FAILED, Reason.ENDPOINT_GONE, False),
        (Rejected(Reason.REJECTED, "21211"), Status.FAILED, Reason.REJECTED, True),
        (Rejected(Reason.OPTED_OUT, "21610"), Status.FAILED, Reason.OPTED_OUT, True),  # UNS-08
        (Unknown("timeout"), Status.UNKNOWN, Reason.UNKNOWN, False),
    ],
)
def test_some_outcomes_end_a_delivery_at_once(
    outcome: Outcome, status: Status, reason: Reason | None, dead_letter: bool
) -> None:
    """No call is made again for what is done, refused for good or better left alone (R-191, R-192)."""
    found = step(outcome, delivery())
    assert isinstance(found, Final)
    assert (found.status, found.reason, found.dead_letter) == (status, reason, dead_letter)
    assert found.error_code == getattr(outcome, "code", "")


def test_two_short_repeats_in_place_then_later() -> None:
    """Within a second each; the third goes back to the router (RST-02)."""
    found = [step(DOWN, delivery(attempt=attempt)) for attempt in (1, 2, 3)]
    assert [type(each) for each in found] == [Retry, Retry, Later]
    for each in found[:2]:
        assert isinstance(each, Retry)
        assert LEAST_WAIT_MS <= each.after_ms < IN_PLACE_MS
        assert each.reason is Reason.TRANSIENT


def test_the_last_attempt_ends_in_a_state_and_a_dead_letter() -> None:
    """Every call counts, those in place too (R-190)."""
    found = step(DOWN, delivery(attempt=6))
    assert found == Final(Status.FAILED, Reason.ATTEMPTS_EXHAUSTED, "503", dead_letter=True)


def test_a_refusal_for_now_is_tried_again_with_its_own_reason() -> None:
    """Not every "no" is for good."""
    found = step(Rejected(Reason.REJECTED, "busy", permanent=False), delivery(attempt=3))
    assert isinstance(found, Later)
    assert found.reason is Reason.REJECTED


@given(after_ms=st.integers(0, HOUR), attempt=st.integers(1, 5), name=st.text("abc", min_size=1, max_size=4))
def test_retry_after_is_a_floor(after_ms: int, attempt: int, name: str) -> None:
    """Whatever the jitter, nobody comes back before the provider said, nor at once (R-182, R-188)."""
    of = delivery(attempt=attempt, name=name)
    for outcome in (Throttled(after_ms, "account", "429"), Unavailable("503", after_ms)):
        found = step(outcome, of)
        assert found == step(outcome, of)
        match found:
            case Retry(after_ms=wait_ms):
                assert attempt <= 2
                assert max(after_ms, LEAST_WAIT_MS) <= wait_ms < IN_PLACE_MS
            case Later(at_ms=at_ms):
                assert at_ms >= NOON + max(after_ms, LEAST_WAIT_MS)
                assert at_ms < of.expires_at_ms
            case Final():
                pytest.fail("three days are long enough")


@given(
    outcome=st.sampled_from([DOWN, Throttled(0, "a", "429"), Unknown("t"), Misconfigured("a", "401")]),
    attempt=st.integers(1, 5),
    left_ms=st.integers(-1000, 400_000),
    kind=st.sampled_from(["order", "otp"]),
)
def test_nothing_is_repeated_past_its_expiry(outcome: Outcome, attempt: int, left_ms: int, kind: str) -> None:
    """A wait that would end too late is the end: `expired`, or `unknown` if it may have arrived (RST-04)."""
    of = replace(delivery(kind, attempt), expires_at_ms=NOON + left_ms)
    match step(outcome, of):
        case Retry(after_ms=wait_ms):
            assert wait_ms < left_ms
        case Later(at_ms=at_ms):
            assert at_ms < NOON + left_ms
        case Final(status=status):
            assert status is (Status.UNKNOWN if isinstance(outcome, Unknown) else Status.EXPIRED)


def test_a_wait_that_ends_with_the_message_s_life_is_its_end() -> None:
    """Half-open: at its expiry it is over."""
    found = step(DOWN, delivery())
    assert isinstance(found, Retry)
    for more_ms, ends in ((0, True), (1, False)):
        short = replace(delivery(), expires_at_ms=NOON + found.after_ms + more_ms)
        assert isinstance(step(DOWN, short), Final) is ends


def test_a_code_whose_fate_is_unknown_is_sent_again() -> None:
    """Twice the same code is better than none: until its attempts are used up, then `unknown` (R-198)."""
    assert isinstance(step(Unknown("timeout"), delivery("otp")), Retry)
    last = step(Unknown("timeout"), delivery("otp", attempt=6))
    assert last == Final(Status.UNKNOWN, Reason.UNKNOWN, "timeout")


def test_a_broken_account_uses_up_no_attempts() -> None:
    """The fault is ours: the delivery waits half a minute or more, and the attempt does not count (R-181)."""
    of = delivery(attempt=6)
    found = step(Misconfigured("account", "401"), of)
    assert isinstance(found, Later)
    assert (found.reason, found.counts) == (Reason.PROVIDER_MISCONFIGURED, False)
    assert found.at_ms >= NOON + 30_000
    assert isinstance(step(DOWN, delivery(attempt=7, uncounted=2)), Later)
    assert isinstance(step(DOWN, delivery(attempt=8, uncounted=2)), Final)


def test_waits_grow_up_to_their_cap() -> None:
    """The plan doubles its bound each time; full jitter spreads below it (R-183…R-186)."""
    for attempt, bound_ms in ((3, 20_000), (4, 40_000), (5, 80_000)):
        waits = [
            found.at_ms - NOON
            for n in range(300)
            if isinstance(found := step(DOWN, delivery(attempt=attempt, name=f"n{n}")), Later)
        ]
        assert len(waits) == 300
        assert max(waits) < bound_ms + LEAST_WAIT_MS
        assert min(waits) < bound_ms / 10
        assert bound_ms * 0.4 < sum(waits) / len(waits) < bound_ms * 0.6


def test_what_failed_together_does_not_return_together() -> None:
    """Of 2,000 that failed in one second no tenth of one holds more than thrice the mean (RST-03)."""
    slots: dict[int, int] = {}
    for n in range(2_000):
        found = step(DOWN, delivery(attempt=3, name=f"n{n}"))
        assert isinstance(found, Later)
        slots[found.at_ms // 1000] = slots.get(found.at_ms // 1000, 0) + 1
    assert max(slots.values()) < 3 * 2_000 / 20


def test_a_type_that_left_the_catalog_keeps_the_standard_plan() -> None:
    """What was admitted is brought to its end."""
    assert isinstance(next_step(DOWN, delivery(), None, NOON), Retry)
    assert isinstance(next_step(Unknown("t"), delivery(), None, NOON), Final)
