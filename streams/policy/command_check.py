"""What is wrong with a profile command by itself, whoever it is about."""

import re

from streams.catalog.hours import minutes_of
from streams.policy.addresses import canonical
from streams.policy.calendar import known
from streams.reasons import Reason
from streams.records.profile_command import (
    Consent,
    ProfileCommand,
    RegisterDevice,
    RemoveDevice,
    SetContact,
    SetLocale,
    SetPreference,
    SetQuietHours,
    SetZone,
)
from streams.records.unfit import Unfit
from streams.topics import CHANNELS, Channel

PLATFORMS = ("android", "ios", "web")
#: Channels with one address a user; push goes to devices.
CONTACT_CHANNELS = (Channel.SMS, Channel.EMAIL)

_LEAST_MS, _MOST_MS = 10**11, 10**14
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}")
_LOCALE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{1,8}){0,3}")
_DEVICE = re.compile(r"[^\x00-\x1f\x7f-\x9f]{1,128}")


def unfit_command(command: ProfileCommand) -> Unfit | None:
    """Return why the command can never be applied, or None."""
    if not _LEAST_MS <= command.at < _MOST_MS:
        return Unfit(Reason.NOT_MILLISECONDS, "/at", "must be milliseconds since the epoch")
    match command:
        case SetPreference(category=category, channel=channel):
            if category != "*" and not _NAME.fullmatch(category):
                return _bad("/category", "is no name of a category")
            return None if channel in ("*", *CHANNELS) else _bad("/channel", "is no channel")
        case Consent(category=category):
            return None if _NAME.fullmatch(category) else _bad("/category", "is no name of a category")
        case SetQuietHours():
            return _quiet_hours(command)
        case SetZone(zone=zone):
            return None if known(zone) else _unknown_zone()
        case SetLocale(locale=locale):
            return None if _LOCALE.fullmatch(locale) else _bad("/locale", "is no language tag")
        case SetContact(channel=channel, address=address):
            if channel not in CONTACT_CHANNELS:
                return _bad("/channel", "has no contacts")
            valid = not address or canonical(channel, address) is not None
            return None if valid else _bad("/address", "is no valid address")
        case RegisterDevice():
            return _device(command)
        case RemoveDevice(device_id=device_id, token=token):
            return None if device_id or token else _bad("/device_id", "needs device_id or token")
        case _:
            return None


def _quiet_hours(command: SetQuietHours) -> Unfit | None:
    if not command.start and not command.end:
        return None
    start, end = minutes_of(command.start), minutes_of(command.end)
    if start is None or end is None:
        return _bad("/start" if start is None else "/end", 'must be "HH:MM"')
    return (
        _bad("/end", "equals the start; leave both empty to switch quiet hours off") if start == end else None
    )


def _device(command: RegisterDevice) -> Unfit | None:
    if not _DEVICE.fullmatch(command.device_id):
        return _bad("/device_id", "must be 1 to 128 characters without controls")
    if canonical(Channel.PUSH, command.token) is None:
        return _bad("/token", "is no token")
    if command.platform not in PLATFORMS:
        return _bad("/platform", f"must be one of {', '.join(PLATFORMS)}")
    return _unknown_zone() if command.zone and not known(command.zone) else None


def _bad(pointer: str, detail: str) -> Unfit:
    return Unfit(Reason.BAD_COMMAND, pointer, detail)


def _unknown_zone() -> Unfit:
    return Unfit(Reason.UNKNOWN_ZONE, "/zone", "is no IANA zone")
