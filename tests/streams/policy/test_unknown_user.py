"""Events about users nobody told us about: waited for once, or reached at the address they bring."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from streams.policy.decide import reconsider
from streams.policy.delivering import delivery_of, redelivery_of
from streams.policy.rules.endpoint import PROFILE_WAIT_MS
from streams.reasons import Reason
from streams.records.decision import Decision, Defer, Deliver, Suppress
from streams.records.delivery import Delivery
from streams.records.state import Contact, Profile
from tests.streams.policy.world import (
    DAY,
    FRESHNESS,
    NOON,
    NUMBER,
    at,
    catalog,
    decided,
    facts,
    one,
    phone,
    request,
    user,
)

OTHER = "+8801812345678"


def waiting(kind: str = "offer", **more: Any) -> Delivery:
    """Return the delivery of an event about somebody unknown."""
    wanted = request(kind, **more)
    decision = one(wanted, None, NOON)
    assert isinstance(decision, Defer)
    return delivery_of(wanted, decision, NOON)


def again(
    delivery: Delivery, profile: Profile | None, now_ms: int, since: Reason = Reason.AWAITING_PROFILE
) -> tuple[Decision, ...]:
    """Decide again when the wait is over."""
    return reconsider(delivery, since, facts(profile), catalog(), FRESHNESS, now_ms)


@given(kind=st.sampled_from(["order", "offer", "sale", "letter", "tip", "otp"]), hour=st.integers(0, 23))
def test_an_unknown_user_is_waited_for_once(kind: str, hour: int) -> None:
    """Ten seconds for every type at every hour, then `no_endpoint`; no place under a cap is taken."""
    now = NOON + hour * 3_600_000
    wanted = request(kind)
    for decision in decided(wanted, None, now):
        assert isinstance(decision, Defer)
        assert (decision.until_ms, decision.reason) == (now + PROFILE_WAIT_MS, Reason.AWAITING_PROFILE)
        assert (decision.target.endpoint, decision.reserves) == ("", False)
        (after,) = again(delivery_of(wanted, decision, now), None, now + PROFILE_WAIT_MS)
        assert isinstance(after, Suppress)
        assert after.reason is Reason.NO_ENDPOINT


def test_once_known_the_first_endpoint_keeps_the_id() -> None:
    """And every further one gets its own, the same as if the user had been known at once."""
    delivery = waiting()
    reader = user(devices=[phone("a"), phone("b")], locale="en")
    first, second = again(delivery, reader, NOON + PROFILE_WAIT_MS)
    assert isinstance(first, Deliver)
    assert isinstance(second, Deliver)
    assert first.target.delivery_id == delivery.delivery_id
    known_ids = [d.target.delivery_id for d in decided(request("offer"), reader, NOON)]
    assert second.target.delivery_id == known_ids[1]
    found = redelivery_of(delivery, second)
    assert (found.endpoint, found.address, found.locale, found.reserves) == ("b", "token-b", "en", True)
    assert found.cohort_at_ms == NOON


def test_what_the_user_wants_counts_as_soon_as_we_know_it() -> None:
    """The profile that arrives says no: nothing is sent."""
    out = user(consents={})
    (found,) = again(waiting(), out, NOON + PROFILE_WAIT_MS)
    assert isinstance(found, Suppress)
    assert found.reason is Reason.NO_CONSENT


def test_a_direct_type_reaches_the_address_it_brings() -> None:
    """A code at the sign-up goes out at once; the push waits for a profile like any other."""
    sms, push = decided(request("otp", address={"sms": "01812-345678"}), None, NOON)
    assert isinstance(sms, Deliver)
    assert (sms.target.endpoint, sms.target.address) == ("inline", OTHER)
    assert isinstance(push, Defer)


def test_the_address_an_event_brings_comes_before_the_stored_one() -> None:
    """A code for a changed number goes to the new number, also when it comes back."""
    wanted = request("otp", address={"sms": OTHER})
    decision = decided(wanted, user(), NOON)[0]
    delivery = delivery_of(wanted, decision, NOON)
    assert delivery.address == OTHER
    (found,) = again(delivery, user(), NOON + 1000, Reason.TRANSIENT)
    assert isinstance(found, Deliver)
    assert (found.target.address, found.target.delivery_id) == (OTHER, delivery.delivery_id)


def test_marketing_fails_closed_even_with_an_address() -> None:
    """No profile, no consent, no message."""
    found = one(request("invite", address={"sms": OTHER}), None, NOON)
    assert isinstance(found, Suppress)
    assert found.reason is Reason.NO_CONSENT


def test_what_is_asked_for_tomorrow_is_looked_for_tomorrow() -> None:
    """An unknown user has until then to become known, and ten seconds more."""
    delivery = waiting("order", send_at=NOON + DAY, channels=["push"])
    (first,) = again(delivery, None, NOON + DAY, Reason.SCHEDULED)
    assert isinstance(first, Defer)
    assert (first.reason, first.until_ms) == (Reason.AWAITING_PROFILE, NOON + DAY + PROFILE_WAIT_MS)
    (known,) = again(delivery, user(), NOON + DAY, Reason.SCHEDULED)
    assert isinstance(known, Deliver)


def test_the_night_of_an_unknown_user_is_the_tenant_s() -> None:
    """Scheduled for 23:00 in Dhaka: held to 08:00 there."""
    found = one(request("offer", send_at=at("2026-06-01T23:00:00+06:00")), None, NOON)
    assert isinstance(found, Defer)
    assert found.until_ms == at("2026-06-02T08:00:00+06:00")


def test_a_wait_longer_than_the_message_s_life_is_its_end() -> None:
    """A code that expires in five seconds does not wait ten."""
    found = decided(request("otp", expires_at=NOON + 5_000), None, NOON)
    assert {d.reason for d in found if isinstance(d, Suppress)} == {Reason.EXPIRED}


def test_a_changed_number_is_used() -> None:
    """Endpoints are looked up again by their id when a delivery comes back."""
    wanted = request("order", channels=["sms"])
    delivery = delivery_of(wanted, one(wanted, user(), NOON), NOON)
    assert delivery.address == NUMBER
    moved = user(contacts=(Contact("sms", OTHER, True),))
    (found,) = again(delivery, moved, NOON + 1000, Reason.TRANSIENT)
    assert isinstance(found, Deliver)
    assert (found.target.address, found.target.delivery_id) == (OTHER, delivery.delivery_id)


def test_a_phone_that_is_gone_is_not_tried_again() -> None:
    """Logged out while a retry waited; the new phone got its own notification or none (R-143)."""
    wanted = request("offer")
    delivery = delivery_of(wanted, one(wanted, user(devices=[phone("old")]), NOON), NOON)
    (found,) = again(delivery, user(devices=[phone("new")]), NOON + 1000, Reason.TRANSIENT)
    assert isinstance(found, Suppress)
    assert (found.reason, found.target.endpoint) == (Reason.NO_ENDPOINT, "old")


def test_a_type_that_left_the_catalog_ends_what_waits() -> None:
    """With a reason, not an error."""
    wanted = request("offer")
    delivery = delivery_of(wanted, one(wanted, user(), NOON), NOON)
    gone = replace(delivery, type="unheard")
    (found,) = again(gone, user(), NOON)
    assert isinstance(found, Suppress)
    assert found.reason is Reason.UNKNOWN_TYPE
