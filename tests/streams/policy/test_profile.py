"""Profile commands: what they change, what is refused, and that each counts once."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.policy.profile import MOST_DEVICES, apply, consent_of, stops_of
from streams.reasons import Reason
from streams.records.consent import ConsentEntry
from streams.records.profile_command import (
    Block,
    Consent,
    Erase,
    ProfileCommand,
    RegisterDevice,
    RemoveDevice,
    SetContact,
    SetLocale,
    SetPreference,
    SetQuietHours,
    SetZone,
)
from streams.records.state import Contact, Profile
from streams.records.stop import Blocked, OptOut
from streams.records.unfit import Unfit
from tests.streams.policy.world import DAY, NOON, NUMBER, at, user

WHO: dict[str, Any] = {"user_id": "u1", "at": NOON}


def after(*commands: ProfileCommand, start: Profile | None = None) -> Profile:
    """Return the profile after commands that all fit."""
    profile = start or Profile()
    for offset, command in enumerate(commands, start=profile.applied + 1):
        changed = apply(profile, command, offset)
        assert isinstance(changed, Profile), changed
        profile = changed
    return profile


def refusal(command: ProfileCommand) -> Unfit:
    """Return why a command is refused, alike whether it is new or a replay."""
    fresh, replayed = apply(Profile(), command, 0), apply(Profile(applied=9), command, 3)
    assert isinstance(fresh, Unfit)
    assert fresh == replayed
    return fresh


def phone(name: str, token: str = "", at_ms: int = NOON) -> RegisterDevice:
    """Return the registration of a phone."""
    return RegisterDevice(user_id="u1", at=at_ms, device_id=name, token=token or f"token-{name}")


def test_commands_build_the_profile() -> None:
    """Each sets its own part."""
    found = after(
        SetZone(**WHO, zone="Asia/Dacca"),
        SetLocale(**WHO, locale="bn-BD"),
        SetQuietHours(**WHO, start="22:30", end="24:00"),
        SetContact(**WHO, channel="sms", address="01712345678", verified=True),
        phone("a"),
        Consent(**WHO, category="marketing", given=True, evidence="form 7"),
        Block(**WHO),
    )
    assert (found.zone, found.locale, found.quiet_start, found.quiet_end) == ("Asia/Dacca", "bn-BD", 1350, 0)
    assert found.contacts == (Contact("sms", NUMBER, True),)
    assert [device.token for device in found.devices] == ["token-a"]
    assert found.consents == {"marketing": True}
    assert (found.blocked, found.applied) == (True, 6)


@pytest.mark.parametrize(
    ("command", "reason", "pointer"),
    [
        (SetZone(**WHO, zone="Etc/Unknown"), Reason.UNKNOWN_ZONE, "/zone"),
        (SetZone(**WHO, zone=""), Reason.UNKNOWN_ZONE, "/zone"),
        (SetZone(**WHO, zone="+05:30"), Reason.UNKNOWN_ZONE, "/zone"),
        (SetQuietHours(**WHO, start="10:00", end="10:00"), Reason.BAD_COMMAND, "/end"),
        (SetQuietHours(**WHO, start="00:00", end="24:00"), Reason.BAD_COMMAND, "/end"),
        (SetQuietHours(**WHO, start="22:00", end=""), Reason.BAD_COMMAND, "/end"),
        (SetQuietHours(**WHO, start="22", end="08:00"), Reason.BAD_COMMAND, "/start"),
        (SetQuietHours(**WHO, start="22:60", end="08:00"), Reason.BAD_COMMAND, "/start"),
        (SetQuietHours(**WHO, start="22:00", end="25:00"), Reason.BAD_COMMAND, "/end"),
        (SetContact(**WHO, channel="sms", address="999"), Reason.BAD_COMMAND, "/address"),
        (SetContact(**WHO, channel="push", address="token"), Reason.BAD_COMMAND, "/channel"),
        (SetLocale(**WHO, locale="bn; drop"), Reason.BAD_COMMAND, "/locale"),
        (SetPreference(**WHO, channel="pigeon", allowed=False), Reason.BAD_COMMAND, "/channel"),
        (SetPreference(**WHO, category="a b", allowed=False), Reason.BAD_COMMAND, "/category"),
        (Consent(**WHO, category="*", given=True), Reason.BAD_COMMAND, "/category"),
        (RegisterDevice(**WHO, device_id="", token="t"), Reason.BAD_COMMAND, "/device_id"),
        (RegisterDevice(**WHO, device_id="a\x1fb", token="t"), Reason.BAD_COMMAND, "/device_id"),
        (RegisterDevice(**WHO, device_id="a", token=""), Reason.BAD_COMMAND, "/token"),
        (RegisterDevice(**WHO, device_id="a", token="t t"), Reason.BAD_COMMAND, "/token"),
        (RegisterDevice(**WHO, device_id="a", token="t", platform="stone"), Reason.BAD_COMMAND, "/platform"),
        (RegisterDevice(**WHO, device_id="a", token="t", zone="here"), Reason.UNKNOWN_ZONE, "/zone"),
        (RemoveDevice(**WHO), Reason.BAD_COMMAND, "/device_id"),
        (Block(user_id="u1", at=NOON // 1000), Reason.NOT_MILLISECONDS, "/at"),
    ],
)
def test_what_cannot_be_applied_is_refused(command: ProfileCommand, reason: Reason, pointer: str) -> None:
    """With its place, and again on every replay (QTZ-05, QTZ-06, QTZ-07, VAL-01)."""
    found = refusal(command)
    assert (found.reason, found.pointer) == (reason, pointer)


def test_a_command_counts_once() -> None:
    """At or below the last applied offset nothing changes, and the same value comes back (replay rule)."""
    reader = after(SetZone(**WHO, zone="Asia/Dhaka"), SetZone(**WHO, zone="Asia/Kolkata"))
    assert apply(reader, SetZone(**WHO, zone="Asia/Tokyo"), 1) is reader
    assert apply(reader, SetZone(**WHO, zone="Asia/Tokyo"), 0) is reader
    assert after(SetZone(**WHO, zone="Asia/Tokyo"), start=reader).zone == "Asia/Tokyo"


def test_switching_quiet_hours_off_is_not_the_default() -> None:
    """Off is stored as equal ends, which the category's hours do not replace."""
    off = after(SetQuietHours(**WHO))
    assert off.quiet_start == off.quiet_end >= 0
    assert Profile().quiet_start == -1


def test_one_number_has_one_spelling() -> None:
    """Two ways to write it are one contact; an empty one removes it."""
    twice = after(
        SetContact(**WHO, channel="sms", address="০১৭১২৩৪৫৬৭৮"),
        SetContact(**WHO, channel="sms", address="+880 1712-345678", verified=True),
    )
    assert twice.contacts == (Contact("sms", NUMBER, True),)
    assert after(SetContact(**WHO, channel="sms", address=""), start=twice).contacts == ()


def test_a_phone_has_one_token_and_a_token_one_phone() -> None:
    """A new token replaces the old one; a reinstalled app brings its token under a new id (R-143)."""
    found = after(phone("a", "t1"), phone("a", "t2"), phone("b", "t2"))
    assert [(device.device_id, device.token) for device in found.devices] == [("b", "t2")]


def test_only_the_newest_phones_are_kept() -> None:
    """The row of a user who changes phones for ever stays small."""
    found = after(*(phone(f"d{n}") for n in range(MOST_DEVICES + 5)))
    assert len(found.devices) == MOST_DEVICES
    assert found.devices[-1].device_id == f"d{MOST_DEVICES + 4}"


@pytest.mark.parametrize(
    ("device_id", "token", "at_ms", "left"),
    [
        ("a", "", NOON, ["b"]),
        ("", "token-b", NOON, ["a"]),
        ("a", "token-a", NOON, ["b"]),
        ("a", "older-token", NOON, ["a", "b"]),  # it has another token by now
        ("a", "token-a", NOON - DAY, ["a", "b"]),  # VAL-05: registered again since
        ("c", "", NOON, ["a", "b"]),
    ],
)
def test_a_phone_goes_unless_it_came_back_since(
    device_id: str, token: str, at_ms: int, left: list[str]
) -> None:
    """The provider's "gone" is compared with the registration (VAL-04, VAL-05)."""
    command = RemoveDevice(user_id="u1", at=at_ms, device_id=device_id, token=token)
    found = after(phone("a"), phone("b"), command)
    assert [device.device_id for device in found.devices] == left


def test_a_provider_s_instant_decides_about_a_token() -> None:
    """Registered on 2 May: the "gone" of 1 May keeps it, that of 3 May takes it (VAL-05)."""
    registered = after(phone("a", at_ms=at("2026-05-02T10:00:00Z")))
    for at_ms, kept in ((1777593600000, 1), (1777766400000, 0)):
        command = RemoveDevice(user_id="u1", at=at_ms, token="token-a")
        assert len(after(command, start=registered).devices) == kept


def test_erasure_forgets_and_stays() -> None:
    """Nothing of the user is left but that they were erased; later commands change nothing."""
    erased = after(Erase(**WHO), start=user(zone="Asia/Dhaka"))
    assert erased == Profile(applied=2, erased=True)
    found = apply(erased, phone("a"), 3)
    assert isinstance(found, Unfit)
    assert found.reason is Reason.ERASED
    assert after(Erase(**WHO), start=erased).erased


def test_senders_are_told_what_to_stop() -> None:
    """Also by a replay: stops depend on the command alone."""
    assert stops_of(SetPreference(**WHO, category="order", channel="sms", allowed=False)) == (
        OptOut("u1", "order", "sms", True, NOON),
    )
    assert stops_of(Consent(**WHO, category="marketing", given=True)) == (
        OptOut("u1", "marketing", "*", False, NOON),
    )
    assert stops_of(Block(**WHO, blocked=False)) == (Blocked("u1", False, NOON),)
    assert stops_of(Erase(**WHO)) == (Blocked("u1", True, NOON, erased=True),)
    assert stops_of(SetZone(**WHO, zone="UTC")) == ()


def test_the_ledger_says_who_allowed_what_by_which_route() -> None:
    """Consent with its evidence, preferences with their source (R-112)."""
    command = Consent(
        user_id="u1", at=NOON, source="web", category="marketing", given=True, evidence="form 7"
    )
    assert consent_of(command, 3, 42) == ConsentEntry(
        "u1", "marketing", "*", True, NOON, "web", "form 7", 3, 42
    )
    choice = SetPreference(
        user_id="u1", at=NOON, source="link", category="order", channel="sms", allowed=False
    )
    assert consent_of(choice, 3, 43) == ConsentEntry("u1", "order", "sms", False, NOON, "link", "", 3, 43)
    assert consent_of(SetZone(**WHO, zone="UTC"), 3, 44) is None


COMMANDS = st.sampled_from(
    [
        SetZone(**WHO, zone="Asia/Tokyo"),
        SetPreference(**WHO, category="order", allowed=False),
        SetPreference(**WHO, allowed=True),
        SetContact(**WHO, channel="sms", address="01712345678"),
        SetContact(**WHO, channel="sms", address=""),
        phone("a"),
        RemoveDevice(**WHO, device_id="a"),
        Consent(**WHO, category="marketing", given=True),
        Block(**WHO),
        Block(**WHO, blocked=False),
        SetQuietHours(**WHO, start="1:00", end="2:00"),
    ]
)


@given(commands=st.lists(COMMANDS, max_size=10), crash=st.integers(0, 10))
def test_reading_a_tail_again_leads_to_the_same_profile(commands: list[ProfileCommand], crash: int) -> None:
    """From any earlier offset on, after any crash: the profile is a function of the log."""
    straight = after(*commands)
    profile = straight
    for offset, command in list(enumerate(commands))[crash:]:
        changed = apply(profile, command, offset)
        assert changed is profile
    assert after(*commands[:crash]).applied == min(crash, len(commands)) - 1
