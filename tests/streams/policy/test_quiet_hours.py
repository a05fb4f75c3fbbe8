"""Nobody is woken by what can wait: whose hours, which zone, hold or drop."""

import pytest

from streams.policy.decide import reconsider
from streams.policy.delivering import delivery_of
from streams.reasons import Reason
from streams.records.decision import Defer, Deliver, Suppress
from streams.records.delivery import Delivery
from streams.records.state import Profile
from tests.streams.policy.world import FRESHNESS, HOUR, at, catalog, decided, facts, one, phone, request, user

EVENING = at("2026-06-01T22:00:05+06:00")
MORNING = at("2026-06-02T08:00:00+06:00")


def held(reader: Profile, now_ms: int = EVENING) -> Delivery:
    """Return an offer that waits for the morning."""
    wanted = request("offer")
    decision = one(wanted, reader, now_ms)
    assert isinstance(decision, Defer)
    return delivery_of(wanted, decision, now_ms)


def again(delivery: Delivery, reader: Profile, now_ms: int) -> object:
    """Return what is decided when the delivery falls due."""
    (decision,) = reconsider(delivery, Reason.QUIET_HOURS, facts(reader), catalog(), FRESHNESS, now_ms)
    return decision


def test_marketing_waits_for_the_morning_and_an_order_does_not() -> None:
    """A campaign at 22:00:05 comes at 08:00:00; an order at the same second at once (R-126, R-139)."""
    offer = one(request("offer"), user(), EVENING)
    assert isinstance(offer, Defer)
    assert (offer.until_ms, offer.reason, offer.rule) == (MORNING, Reason.QUIET_HOURS, "quiet_hours")
    assert all(isinstance(d, Deliver) for d in decided(request("order"), user(), EVENING))


def test_a_code_comes_at_any_hour() -> None:
    """Mandatory types ignore quiet hours, the user's own too (R-126)."""
    codes = decided(request("otp"), user(quiet_start=0, quiet_end=1439), EVENING)
    assert all(isinstance(d, Deliver) for d in codes)


def test_a_type_may_drop_what_comes_at_night() -> None:
    """A tip that is stale in the morning is suppressed."""
    tip = one(request("tip"), user(), EVENING)
    assert isinstance(tip, Suppress)
    assert tip.reason is Reason.QUIET_HOURS


def test_the_user_s_own_hours_come_before_the_category_s() -> None:
    """Someone who sleeps from 13:00 to 15:30 (R-109, R-137)."""
    late = user(quiet_start=13 * 60, quiet_end=15 * 60 + 30)
    nap = one(request("offer"), late, at("2026-06-01T14:00:00+06:00"))
    assert isinstance(nap, Defer)
    assert nap.until_ms == at("2026-06-01T15:30:00+06:00")
    assert isinstance(one(request("offer"), late, EVENING), Deliver)


@pytest.mark.parametrize("clock", ["03:00", "10:00", "17:00"])
def test_equal_ends_are_off_and_never_always(clock: str) -> None:
    """A stored 10:00-10:00 stops nothing (QTZ-07)."""
    reader = user(quiet_start=600, quiet_end=600)
    assert isinstance(one(request("offer"), reader, at(f"2026-06-01T{clock}:00+06:00")), Deliver)


@pytest.mark.parametrize(
    ("own", "device", "channel_zone"),
    [
        ("", "", "Asia/Dhaka"),  # the tenant's
        ("America/New_York", "", "America/New_York"),
        ("America/New_York", "Asia/Tokyo", "Asia/Tokyo"),  # the phone knows where it is
        ("Etc/Unknown", "", "Asia/Dhaka"),  # QTZ-05
        ("", "nowhere/at/all", "Asia/Dhaka"),
    ],
)
def test_the_zone_is_the_phone_s_the_user_s_or_the_tenant_s(own: str, device: str, channel_zone: str) -> None:
    """In this order, and an unknown name counts as none (R-124, QTZ-05)."""
    midnight = {"Asia/Dhaka": "+06:00", "America/New_York": "-04:00", "Asia/Tokyo": "+09:00"}[channel_zone]
    reader = user(own, devices=[phone(zone=device)])
    found = one(request("offer"), reader, at(f"2026-06-02T00:00:00{midnight}"))
    assert isinstance(found, Defer)
    assert found.until_ms == at(f"2026-06-02T08:00:00{midnight}")


def test_one_broken_zone_disturbs_nobody_else() -> None:
    """Three due users, one with a zone that does not exist: all three are decided (QTZ-05)."""
    zones = ("Asia/Dhaka", "Etc/Unknown", "Asia/Kolkata")
    assert all(isinstance(one(request("offer"), user(zone), EVENING + HOUR), Defer) for zone in zones)


def test_two_phones_in_two_zones_have_two_nights() -> None:
    """One waits, the other rings."""
    reader = user(devices=[phone("home"), phone("abroad", "America/New_York")])
    home, abroad = decided(request("offer"), reader, EVENING)
    assert isinstance(home, Defer)
    assert isinstance(abroad, Deliver)


def test_switching_quiet_hours_off_counts_at_the_next_look() -> None:
    """What was held is decided with the hours as they are now (QTZ-13)."""
    waiting = held(user())
    off = user(quiet_start=0, quiet_end=0)
    assert isinstance(again(waiting, off, EVENING + HOUR), Deliver)
    longer = again(waiting, user(quiet_start=22 * 60, quiet_end=10 * 60), MORNING)
    assert isinstance(longer, Defer)
    assert longer.until_ms == MORNING + 2 * HOUR


def test_a_traveller_is_held_again_where_they_are() -> None:
    """A change of zone re-evaluates held messages: morning in Dhaka is evening in New York."""
    waiting = held(user())
    there = again(waiting, user("America/New_York"), MORNING)
    assert isinstance(there, Defer)
    assert there.until_ms == at("2026-06-02T08:00:00-04:00")


def test_what_would_wait_past_its_expiry_is_expired_at_once() -> None:
    """Nothing is kept that can never be sent; the rule that would hold it is named (RST-04)."""
    short = one(request("offer", expires_at=MORNING), user(), EVENING)
    assert isinstance(short, Suppress)
    assert (short.reason, short.rule) == (Reason.EXPIRED, "quiet_hours")
    assert isinstance(one(request("offer", expires_at=MORNING + 1), user(), EVENING), Defer)
