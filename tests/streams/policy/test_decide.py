"""The plan of a new event: which deliveries, to where, until when, under which ids."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from streams.policy.decide import decide, delivery_of
from streams.reasons import Reason
from streams.records.codec import read_delivery, to_json
from streams.records.decision import Defer, Deliver, Suppress
from streams.records.state import Contact, Profile
from tests.streams.policy.world import (
    DAY,
    FRESHNESS,
    HOUR,
    NOON,
    NUMBER,
    at,
    catalog,
    decided,
    facts,
    one,
    phone,
    place,
    request,
    user,
)


def test_each_endpoint_of_each_channel_has_its_delivery() -> None:
    """Two phones and a number make three (R-142)."""
    found = decided(request(), user(devices=[phone("a"), phone("b")]), NOON)
    assert [(d.target.channel, d.target.endpoint, d.target.address) for d in found] == [
        ("push", "a", "token-a"),
        ("push", "b", "token-b"),
        ("sms", "contact", NUMBER),
    ]
    assert len({d.target.delivery_id for d in found}) == 3
    assert all(isinstance(d, Deliver) for d in found)


def test_a_channel_without_an_endpoint_never_stops_another() -> None:
    """No phone: the push is suppressed, the text message goes (R-138, R-140, R-141)."""
    push, sms = decided(request(), user(devices=[]), NOON)
    assert isinstance(push, Suppress)
    assert (push.reason, push.rule, push.target.endpoint) == (Reason.NO_ENDPOINT, "endpoint", "")
    assert isinstance(sms, Deliver)


def test_an_inactive_endpoint_is_not_tried() -> None:
    """A number marked inactive is skipped with its own reason (R-135)."""
    silent = user(devices=[phone(active=False)], contacts=(Contact("sms", NUMBER, True, active=False),))
    assert [d.reason for d in decided(request(), silent, NOON) if isinstance(d, Suppress)] == [
        Reason.ENDPOINT_INACTIVE
    ] * 2


def test_a_producer_narrows_channels_and_never_widens_them() -> None:
    """What the type does not have is suppressed with a reason, not added."""
    push, email = decided(request(channels=["push", "email", "email"]), user(), NOON)
    assert isinstance(push, Deliver)
    assert isinstance(email, Suppress)
    assert (email.target.channel, email.reason) == ("email", Reason.CHANNEL_UNAVAILABLE)


def test_users_never_share_a_delivery_id() -> None:
    """One id for two recipients, and on two channels: four sends (DED-02)."""
    ids = {
        d.target.delivery_id
        for name in ("u1", "u2")
        for d in decided(request(user_id=name, notification_id="order-55"), user(), NOON)
    }
    assert len(ids) == 4


@given(
    kind=st.sampled_from(["order", "otp", "offer", "sale", "letter", "tip"]),
    now=st.integers(NOON, NOON + 3 * DAY),
    zone=st.sampled_from(["", "Asia/Dhaka", "America/New_York", "nowhere"]),
    phones=st.integers(0, 3),
    held=st.lists(st.integers(-DAY, DAY), max_size=4),
    send_at=st.none() | st.integers(-DAY, 4 * DAY),
)
def test_deciding_again_decides_alike(
    kind: str, now: int, zone: str, phones: int, held: list[int], send_at: int | None
) -> None:
    """The same facts and instant give the same decisions with the same ids (replay rule).

    And whatever they are: nothing is sent or kept past its expiry, each delivery has one decision,
    and a deferral is in the future.
    """
    wanted = request(kind, **({} if send_at is None else {"send_at": NOON + send_at}))
    reader = user(zone, devices=[phone(str(n)) for n in range(phones)])
    places = [place(f"o{n}", now + shift) for n, shift in enumerate(held)]
    first, second = (decided(wanted, reader, now, places) for _ in range(2))
    assert first == second
    assert first
    assert len({d.target.delivery_id for d in first}) == len(first)
    for decision in first:
        match decision:
            case Deliver(send_until_ms=until):
                assert now < until <= wanted.expires_at_ms(now)
            case Defer(until_ms=until):
                assert now < until < wanted.expires_at_ms(now)
            case Suppress(reason=reason):
                assert reason


def test_what_is_over_is_expired() -> None:
    """At its expiry and after: half-open (R-189, RST-04)."""
    code = request("otp", created_at=NOON)
    before, after = (one_sms(code, NOON + ms) for ms in (299_999, 300_000))
    assert isinstance(before, Deliver)
    assert before.send_until_ms == NOON + 300_000
    assert isinstance(after, Suppress)
    assert (after.reason, after.rule) == (Reason.EXPIRED, "expiry")


def one_sms(wanted: Any, now_ms: int, reader: Profile | None = None) -> Any:
    """Return the decision about the text message."""
    return next(d for d in decided(wanted, reader or user(), now_ms) if d.target.channel == "sms")


def test_a_delivery_is_good_for_its_lane_s_freshness() -> None:
    """A minute for those who wait, ten for campaigns (design: short lanes)."""
    for kind, fresh_ms in (("order", 60_000), ("offer", 600_000)):
        decision = decided(request(kind), user(), NOON)[0]
        assert isinstance(decision, Deliver)
        assert decision.send_until_ms == NOON + fresh_ms


def test_a_delivery_is_not_good_past_the_next_quiet_hours() -> None:
    """Marketing queued at 21:59 is decided again at 22:00; what ignores the night is not."""
    late = at("2026-06-01T21:59:00+06:00")
    offer, letter = one(request("offer"), user(), late), one(request("letter"), user(), late)
    assert isinstance(offer, Deliver)
    assert offer.send_until_ms == late + 60_000
    assert isinstance(letter, Deliver)
    assert letter.send_until_ms == late + 600_000


def test_what_is_asked_for_later_waits() -> None:
    """Until its instant, with its reason; an earlier instant is now."""
    later = one(request("offer", send_at=NOON + 2 * HOUR), user(), NOON)
    assert isinstance(later, Defer)
    assert (later.until_ms, later.reason, later.rule) == (NOON + 2 * HOUR, Reason.SCHEDULED, "scheduled")
    assert isinstance(one(request("offer", send_at=NOON - HOUR), user(), NOON), Deliver)


def test_what_is_asked_for_at_night_waits_for_the_morning() -> None:
    """One deferral to where it is really meant to be sent."""
    later = one(request("offer", send_at=at("2026-06-02T01:00:00+06:00")), user(), NOON)
    assert isinstance(later, Defer)
    assert (later.until_ms, later.reason) == (at("2026-06-02T08:00:00+06:00"), Reason.QUIET_HOURS)


def test_the_reader_s_language_is_pinned() -> None:
    """What the event says, else the user, else the tenant."""
    assert one(request("offer", locale="fr"), user(locale="en"), NOON).target.locale == "fr"
    assert one(request("offer"), user(locale="en"), NOON).target.locale == "en"
    assert one(request("offer"), user(), NOON).target.locale == "bn"


def test_a_decision_becomes_a_delivery() -> None:
    """With everything a sender needs, the text's version pinned, and back through JSON unchanged (R-059)."""
    wanted = request("offer", campaign_id="c1", trace="t1", data={"a": 1})
    decision = one(wanted, user("America/New_York"), NOON + 9 * HOUR)
    delivery = delivery_of(wanted, decision, NOON + 9 * HOUR)
    assert (delivery.template, delivery.version, delivery.locale) == ("offer", 1, "bn")
    assert (delivery.address, delivery.lane, delivery.category) == ("token-phone", "bulk", "marketing")
    assert (delivery.campaign_id, delivery.trace, delivery.data) == ("c1", "t1", {"a": 1})
    assert delivery.reserves
    assert delivery.attempt == 1
    assert (delivery.src_topic, delivery.src_offset) == (wanted.source.topic, 7)
    assert read_delivery(to_json(delivery)) == delivery


def test_a_recalled_decision_gives_the_same_delivery() -> None:
    """A replay long after builds the same record from the stored decision."""
    wanted = request()
    (decision, *_) = decided(wanted, user(), NOON)
    assert to_json(delivery_of(request(), decision, NOON)) == to_json(delivery_of(wanted, decision, NOON))


def test_a_decision_never_changes_what_it_is_given() -> None:
    """Facts are values: deciding leaves them as they were."""
    given_facts = facts(user(), [place("o", NOON)])
    before = to_json(given_facts)
    decide(request("offer"), given_facts, catalog(), FRESHNESS, NOON)
    assert to_json(given_facts) == before
