"""What users chose, and who is sent to against their choice: nobody but by mandatory types."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.policy.decide import reconsider
from streams.policy.delivering import delivery_of
from streams.policy.profile import apply, stops_of
from streams.policy.stopping import stopped
from streams.reasons import Reason
from streams.records.decision import Deliver, Suppress
from streams.records.profile_command import Block, Consent, Erase, ProfileCommand, SetPreference
from streams.records.state import Profile, Stops
from streams.records.stop import OptOut
from tables.stops import applied
from tests.streams.policy.world import FRESHNESS, NOON, catalog, decided, facts, one, request, user


def reason(kind: str, profile: Profile, channel: str) -> Reason | None:
    """Return why an event's delivery on a channel is not sent, None if it is."""
    decision = next(d for d in decided(request(kind), profile, NOON) if d.target.channel == channel)
    return decision.reason if isinstance(decision, Suppress) else None


def test_marketing_needs_a_yes() -> None:
    """Without a recorded consent nothing goes out; with it withdrawn neither (R-111)."""
    assert reason("offer", user(consents={}), "push") is Reason.NO_CONSENT
    assert reason("offer", user(consents={"marketing": False}), "push") is Reason.NO_CONSENT
    assert reason("offer", user(consents={"marketing": True}), "push") is None


def test_switching_a_channel_on_is_no_consent() -> None:
    """A preference says where, a consent says whether."""
    assert (
        reason("offer", user(consents={}, preferences={("marketing", "push"): True}), "push")
        is Reason.NO_CONSENT
    )


def test_other_categories_need_none() -> None:
    """An order goes to someone who said nothing, and so does what its category exempts."""
    silent = user(consents={})
    assert reason("order", silent, "push") is None
    assert reason("letter", silent, "push") is None


@pytest.mark.parametrize(
    ("preferences", "push", "sms"),
    [
        ({("order", "push"): False}, Reason.OPTED_OUT, None),
        ({("order", "*"): False}, Reason.OPTED_OUT, Reason.OPTED_OUT),
        ({("*", "sms"): False}, None, Reason.OPTED_OUT),
        ({("*", "*"): False}, Reason.OPTED_OUT, Reason.OPTED_OUT),
        ({("*", "*"): False, ("order", "push"): True}, None, Reason.OPTED_OUT),
        ({("order", "*"): True, ("*", "sms"): False}, None, Reason.OPTED_OUT),  # a "no" of either is a "no"
        ({("order", "*"): False, ("*", "sms"): True}, Reason.OPTED_OUT, Reason.OPTED_OUT),
        ({("order", "sms"): True, ("*", "sms"): False}, None, None),  # exactly this pair
        ({("marketing", "*"): False}, None, None),
    ],
)
def test_the_nearest_choice_decides(
    preferences: dict[tuple[str, str], bool], push: Reason | None, sms: Reason | None
) -> None:
    """Category and channel; else category or channel; else everything (R-108)."""
    reader = user(preferences=preferences)
    assert (reason("order", reader, "push"), reason("order", reader, "sms")) == (push, sms)


def test_an_opt_out_reaches_only_what_it_names() -> None:
    """Out of offers by push: codes, orders and offers by text still come (UNS-07)."""
    reader = user(preferences={("marketing", "push"): False})
    assert reason("sale", reader, "push") is Reason.OPTED_OUT
    assert reason("sale", reader, "sms") is None
    assert reason("order", reader, "push") is None
    assert reason("otp", reader, "push") is None


@given(
    preferences=st.dictionaries(
        st.tuples(st.sampled_from(["security", "*"]), st.sampled_from(["push", "sms", "*"])), st.booleans()
    ),
    blocked=st.booleans(),
    consents=st.dictionaries(st.just("security"), st.booleans()),
)
def test_nothing_but_erasure_stops_a_mandatory_type(
    preferences: dict[tuple[str, str], bool], blocked: bool, consents: dict[str, bool]
) -> None:
    """Critical fails open: no preference, block or missing consent holds a code (R-110)."""
    reader = user(preferences=preferences, blocked=blocked, consents=consents)
    assert all(isinstance(d, Deliver) for d in decided(request("otp"), reader, NOON))


def test_a_blocked_user_gets_only_what_is_mandatory() -> None:
    """And an erased one nothing at all."""
    blocked = user(blocked=True)
    assert {reason("order", blocked, channel) for channel in ("push", "sms")} == {Reason.BLOCKED}
    erased = Profile(applied=9, erased=True)
    for kind in ("order", "otp"):
        found = decided(request(kind), erased, NOON)
        assert [d.reason for d in found if isinstance(d, Suppress)] == [Reason.ERASED] * 2
    inline = decided(request("otp", address={"sms": "+8801712345678"}), erased, NOON)
    assert all(isinstance(d, Suppress) for d in inline)


def test_an_opt_out_comes_before_quiet_hours_and_caps() -> None:
    """The reason is the user's own choice, not the hour (R-355)."""
    assert reason("offer", user(preferences={("*", "*"): False}), "push") is Reason.OPTED_OUT


def test_who_opts_out_while_a_message_waits_does_not_get_it() -> None:
    """Held, retried or queued: the choice is looked at again each time (R-113, R-114, UNS-04)."""
    wanted = request("offer")
    delivery = delivery_of(wanted, one(wanted, user(), NOON), NOON)
    out = user(preferences={("marketing", "push"): False})
    for since in (Reason.QUIET_HOURS, Reason.TRANSIENT, Reason.STALE, Reason.THROTTLED):
        (found,) = reconsider(delivery, since, facts(out), catalog(), FRESHNESS, NOON)
        assert isinstance(found, Suppress)
        assert found.reason is Reason.OPTED_OUT


@given(
    commands=st.lists(
        st.builds(
            SetPreference,
            user_id=st.just("u1"),
            at=st.just(NOON),
            category=st.sampled_from(["order", "marketing", "*"]),
            channel=st.sampled_from(["push", "sms", "*"]),
            allowed=st.booleans(),
        ),
        min_size=1,
        max_size=8,
    )
)
def test_choices_take_effect_at_once_in_router_and_senders(commands: list[SetPreference]) -> None:
    """A "no" stops all it covers, a "yes" about exactly a pair allows it, whatever was said before.

    Who never said "no" is never stopped; and the stops of a sender say what the profile says.
    """
    reader, stops = user(), Stops()
    for offset, command in enumerate(commands, start=2):
        changed = apply(reader, command, offset)
        assert isinstance(changed, Profile)
        reader = changed
        for stop in stops_of(command):
            stops = applied(stops, stop, offset)
        for push_or_sms in ("push", "sms"):
            why = reason("order", reader, push_or_sms)
            covers = command.category in ("order", "*") and command.channel in (push_or_sms, "*")
            if covers and not command.allowed:
                assert why is Reason.OPTED_OUT
            if (command.category, command.channel) == ("order", push_or_sms) and command.allowed:
                assert why is None
            if all(given_before.allowed for given_before in commands[: offset - 1]):
                assert why is None
            wanted = request()
            queued = delivery_of(wanted, decided(wanted, user(), NOON)[push_or_sms == "sms"], NOON)
            assert stopped(stops, queued) is why


def test_a_fresh_consent_is_a_choice_about_its_category() -> None:
    """Withdrawn it stops the category everywhere, given again it lifts what was switched off there."""
    reader = user(preferences={("marketing", "push"): False})
    for offset, given_again, why in ((2, False, Reason.OPTED_OUT), (3, True, None)):
        changed = apply(
            reader, Consent(user_id="u1", at=NOON, category="marketing", given=given_again), offset
        )
        assert isinstance(changed, Profile)
        reader = changed
        assert reason("offer", reader, "push") is why


def test_senders_hear_of_an_opt_out_at_once() -> None:
    """The stop of a preference stops exactly the deliveries that the router would suppress."""
    wanted = request("offer")
    delivery = delivery_of(wanted, one(wanted, user(), NOON), NOON)
    command = SetPreference(user_id="u1", at=NOON, category="marketing", channel="push", allowed=False)
    (stop,) = stops_of(command)
    assert isinstance(stop, OptOut)
    stops = Stops(opted_out={(stop.category, stop.channel): stop.at_ms})
    assert stopped(stops, delivery) is Reason.OPTED_OUT


@pytest.mark.parametrize(
    ("command", "order", "code"),
    [
        (Block(user_id="u1", at=NOON), Reason.BLOCKED, None),
        (Erase(user_id="u1", at=NOON), Reason.ERASED, Reason.ERASED),
    ],
)
def test_a_block_or_an_erasure_reaches_what_is_queued(
    command: ProfileCommand, order: Reason, code: Reason | None
) -> None:
    """A code still comes to a blocked user, nothing at all to an erased one."""
    stops = Stops()
    for stop in stops_of(command):
        stops = applied(stops, stop, 1)
    for kind, why in (("order", order), ("otp", code)):
        wanted = request(kind)
        assert stopped(stops, delivery_of(wanted, decided(wanted, user(), NOON)[0], NOON)) is why
