"""Who lives in the load: a few kinds of people, each with one thing that decides about them."""

import random
from enum import StrEnum

from msgspec import Struct

from streams.records.codec import to_json
from streams.records.profile_command import (
    Consent,
    ProfileCommand,
    RegisterDevice,
    SetContact,
    SetPreference,
    SetQuietHours,
    SetZone,
)

_MINUTES_A_DAY = 1_440


class Kind(StrEnum):
    """What is special about a person."""

    PLAIN = "plain"
    TWO_PHONES = "two_phones"
    NO_PHONE = "no_phone"  # a number, but no device
    NEVER_ASKED = "never_asked"  # no consent to offers
    OPTED_OUT = "opted_out"  # from offers, and from orders by push, before any event
    LEAVES = "leaves"  # opts out of offers in the middle of the flow
    ASLEEP = "asleep"  # in quiet hours for hours to come
    STRANGER = "stranger"  # nobody told us about them


_WEIGHTS = {
    Kind.PLAIN: 40,
    Kind.TWO_PHONES: 10,
    Kind.NO_PHONE: 5,
    Kind.NEVER_ASKED: 10,
    Kind.OPTED_OUT: 10,
    Kind.LEAVES: 15,
    Kind.ASLEEP: 5,
    Kind.STRANGER: 5,
}


class Person(Struct, frozen=True):
    """A person with the commands that make them known, encoded; nobody ever talks of them again."""

    user_id: str
    kind: Kind
    commands: tuple[bytes, ...]


def people(dice: random.Random, tag: str, count: int, now_ms: int) -> tuple[Person, ...]:
    """Return people of all kinds; `tag` makes their ids their own."""
    kinds = dice.choices(list(_WEIGHTS), list(_WEIGHTS.values()), k=count)
    kinds[: len(Kind)] = list(Kind)  # a small crowd has one of each
    return tuple(_person(f"{tag}-{number:04d}", kind, number, now_ms) for number, kind in enumerate(kinds))


def opt_out(user_id: str, at_ms: int) -> bytes:
    """Return the command by which somebody leaves in the middle of the flow."""
    return to_json(SetPreference(user_id=user_id, at=at_ms, category="marketing", channel="*", allowed=False))


def _person(user_id: str, kind: Kind, number: int, now_ms: int) -> Person:
    if kind is Kind.STRANGER:
        return Person(user_id, kind, ())
    start, end = _asleep_now(now_ms) if kind is Kind.ASLEEP else ("", "")
    said: list[ProfileCommand] = [
        SetContact(user_id=user_id, at=now_ms, channel="sms", address=f"+8801711{number:06d}", verified=True),
        SetZone(user_id=user_id, at=now_ms, zone="UTC"),
        SetQuietHours(user_id=user_id, at=now_ms, start=start, end=end),
    ]
    phones = {Kind.NO_PHONE: 0, Kind.TWO_PHONES: 2}.get(kind, 1)
    for phone in range(phones):
        device, token = f"{user_id}-{phone}", f"token-{user_id}-{phone}"
        said.append(RegisterDevice(user_id=user_id, at=now_ms, device_id=device, token=token))
    if kind is not Kind.NEVER_ASKED:
        said.append(Consent(user_id=user_id, at=now_ms, category="marketing", given=True))
    if kind is Kind.OPTED_OUT:
        for category, channel in (("marketing", "*"), ("order", "push")):
            said.append(
                SetPreference(user_id=user_id, at=now_ms, category=category, channel=channel, allowed=False)
            )
    return Person(user_id, kind, tuple(to_json(command) for command in said))


def _asleep_now(now_ms: int) -> tuple[str, str]:
    """Return quiet hours that began an hour ago and end in eight, in UTC."""
    minute = now_ms // 60_000 % _MINUTES_A_DAY
    return _clock(minute - 60), _clock(minute + 480)


def _clock(minute: int) -> str:
    hours, minutes = divmod(minute % _MINUTES_A_DAY, 60)
    return f"{hours:02d}:{minutes:02d}"
