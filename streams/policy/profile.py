"""Commands change what we know of a user: each once, in the order of their offsets."""

from msgspec.structs import replace

from streams.catalog.hours import minutes_of
from streams.policy.addresses import canonical
from streams.policy.choices import with_choice
from streams.policy.command_check import unfit_command
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
from streams.records.state import Contact, Device, Profile
from streams.records.stop import Blocked, OptOut, Stop
from streams.records.unfit import Unfit

#: A user's newest devices; older ones are forgotten, so that a row stays small.
MOST_DEVICES = 10


def apply(profile: Profile, command: ProfileCommand, offset: int) -> Profile | Unfit:
    """Return the profile after a command, the same object if the command was applied before.

    A command that cannot be applied is refused whatever its offset, so a replay refuses it again.
    """
    unfit = unfit_command(command)
    if unfit is not None:
        return unfit
    if offset <= profile.applied:
        return profile
    if profile.erased and not isinstance(command, Erase):
        return Unfit(Reason.ERASED, "/user_id", "this user was erased; a new person needs a new id")
    return replace(_changed(profile, command), applied=offset)


def _changed(profile: Profile, command: ProfileCommand) -> Profile:
    match command:
        case SetPreference(category=category, channel=channel, allowed=allowed):
            return replace(profile, preferences=with_choice(profile.preferences, category, channel, allowed))
        case SetQuietHours(start=start, end=end):
            # Off is stored as equal ends: -1 would mean the category's default.
            return replace(profile, quiet_start=minutes_of(start) or 0, quiet_end=minutes_of(end) or 0)
        case SetZone(zone=zone):
            return replace(profile, zone=zone)
        case SetLocale(locale=locale):
            return replace(profile, locale=locale)
        case SetContact():
            return replace(profile, contacts=_contacts(profile, command))
        case RegisterDevice():
            return replace(profile, devices=_with_device(profile, command))
        case RemoveDevice():
            return replace(profile, devices=_without_device(profile, command))
        case Consent(category=category, given=given):
            # A choice about the whole category as well, as senders hear of it.
            choices = with_choice(profile.preferences, category, "*", given)
            return replace(profile, consents=profile.consents | {category: given}, preferences=choices)
        case Block(blocked=blocked):
            return replace(profile, blocked=blocked)
        case Erase():
            return Profile(erased=True)


def _contacts(profile: Profile, command: SetContact) -> tuple[Contact, ...]:
    others = tuple([contact for contact in profile.contacts if contact.channel != command.channel])
    address = canonical(command.channel, command.address) if command.address else None
    if address is None:
        return others
    return (*others, Contact(command.channel, address, command.verified))


def _with_device(profile: Profile, command: RegisterDevice) -> tuple[Device, ...]:
    """Return the devices with this one, newest last; a token belongs to one device only."""
    others = [
        device
        for device in profile.devices
        if device.device_id != command.device_id and device.token != command.token
    ]
    device = Device(command.device_id, command.token, command.platform, command.zone, command.at)
    return (*others[-(MOST_DEVICES - 1) :], device)


def _without_device(profile: Profile, command: RemoveDevice) -> tuple[Device, ...]:
    """Return the devices without the one named, unless it registered again since (VAL-05)."""
    return tuple(
        [
            device
            for device in profile.devices
            if command.device_id not in ("", device.device_id)
            or command.token not in ("", device.token)
            or device.seen_at_ms > command.at
        ]
    )


def stops_of(command: ProfileCommand) -> tuple[Stop, ...]:
    """Return what senders must know at once of a command that was applied, or was before."""
    user, at = command.user_id, command.at
    match command:
        case SetPreference(category=category, channel=channel, allowed=allowed):
            return (OptOut(user, category, channel, not allowed, at),)
        case Consent(category=category, given=given):
            return (OptOut(user, category, "*", not given, at),)
        case Block(blocked=blocked):
            return (Blocked(user, blocked, at),)
        case Erase():
            return (Blocked(user, True, at, erased=True),)
        case _:
            return ()


def consent_of(command: ProfileCommand, partition: int, offset: int) -> ConsentEntry | None:
    """Return the ledger's entry for a change of consent or preference, None for other commands."""
    match command:
        case Consent(category=category, given=given, evidence=evidence):
            channel, allowed = "*", given
        case SetPreference(category=category, channel=channel, allowed=allowed):
            evidence = ""
        case _:
            return None
    return ConsentEntry(
        command.user_id, category, channel, allowed, command.at, command.source, evidence, partition, offset
    )
