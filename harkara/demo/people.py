"""The people of the demo: where they live, what they read, how they can be reached."""

import random
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from streams.records.profile_command import (
    Consent,
    ProfileCommand,
    RegisterDevice,
    SetContact,
    SetLocale,
    SetPreference,
    SetQuietHours,
    SetZone,
)
from streams.topics import Channel

#: A provider refuses tokens that end so, for good.
DEAD = "-dead"

# zone, share of the people, first digits of their numbers, length of the rest
_PLACES = (
    ("Asia/Dhaka", 0.82, "+88017", 8),
    ("Asia/Riyadh", 0.08, "+96650", 7),
    ("Europe/London", 0.06, "+447911", 6),
    ("America/New_York", 0.04, "+1212", 7),
)
# Quiet hours of their own; those of 00:30 are awake at half past eleven, those of 08:30 rise late.
_OWN_HOURS = (("21:30", "07:00"), ("22:30", "08:30"), ("00:30", "09:30"))
_OPTED_OUT = 0.12
_NEVER_ASKED = 0.04


class Person(Struct, frozen=True):
    """One user. `offers`: "yes", "opted_out" or "never_asked"."""

    user_id: str
    zone: str
    locale: str
    tokens: tuple[str, ...]  # of their phones, by number of the phone
    number: str
    offers: str
    quiet: tuple[str, str] | None  # None: the category's hours

    @property
    def devices(self) -> tuple[str, ...]:
        """The ids of their phones, as deliveries name them."""
        return tuple(f"phone-{place}" for place in range(1, len(self.tokens) + 1))

    def commands(self, at_ms: int) -> Iterator[ProfileCommand]:
        """Yield what an app would tell the pipeline about them."""
        who: dict[str, Any] = {"user_id": self.user_id, "at": at_ms, "source": "harkara demo"}
        yield SetZone(zone=self.zone, **who)
        yield SetLocale(locale=self.locale, **who)
        yield SetContact(channel=Channel.SMS, address=self.number, verified=True, **who)
        for device, token in zip(self.devices, self.tokens, strict=True):
            yield RegisterDevice(device_id=device, token=token, **who)
        if self.offers != "never_asked":
            yield Consent(category="marketing", given=True, evidence="sign-up form", **who)
        if self.offers == "opted_out":
            yield SetPreference(category="marketing", channel="*", allowed=False, **who)
        if self.quiet is not None:
            yield SetQuietHours(start=self.quiet[0], end=self.quiet[1], **who)


def people(dice: random.Random, count: int) -> tuple[Person, ...]:
    """Return so many people, `u-0` to `u-<count - 1>`."""
    return tuple(_person(dice, number) for number in range(count))


def _person(dice: random.Random, number: int) -> Person:
    zone, _, digits, rest = dice.choices(_PLACES, [place[1] for place in _PLACES])[0]
    (phones,) = dice.choices((0, 1, 2), (0.2, 0.68, 0.12))
    tokens = tuple(
        f"token-{number}-{place}{DEAD if dice.random() < 0.006 else ''}" for place in range(1, phones + 1)
    )
    drawn = dice.random()
    return Person(
        user_id=f"u-{number}",
        zone=zone,
        locale="bn" if zone == "Asia/Dhaka" and dice.random() < 0.9 else "en",
        tokens=tokens,
        # 2 and up: a leading 0 or 1 is no subscriber's number everywhere.
        number=f"{digits}{2 * 10 ** (rest - 1) + number:0{rest}d}",
        offers="opted_out"
        if drawn < _OPTED_OUT
        else "never_asked"
        if drawn < _OPTED_OUT + _NEVER_ASKED
        else "yes",
        quiet=dice.choice(_OWN_HOURS) if dice.random() < 0.06 else None,
    )
