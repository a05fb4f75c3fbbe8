"""`harkara profile`: what is known of a user, as an app or a shop would tell it."""

import re

import click

from connectors.kafka.client_producer import ClientProducer
from harkara.addresses import addresses_of
from harkara.cli.options import json_option, with_settings
from harkara.cli.output import print_json
from harkara.clock_shift import present_shift_ms
from harkara.settings import Settings
from harkara.wall_clock import WallClock
from streams.errors import SettingError
from streams.records.codec import as_plain, to_json
from streams.records.profile_command import (
    Block,
    Consent,
    Erase,
    ProfileCommand,
    RegisterDevice,
    SetContact,
    SetLocale,
    SetPreference,
    SetQuietHours,
    SetZone,
)
from streams.topics import PROFILES, Channel

_HOURS = re.compile(r"(\d\d:\d\d)-(\d\d:\d\d)")
_SOURCE = "harkara profile"


@click.command()
@click.argument("user")
@click.option(
    "--push", "tokens", multiple=True, metavar="TOKEN", help="A phone that takes push; may be repeated."
)
@click.option("--sms", "number", metavar="NUMBER", help="Verified phone number, like +8801712345678.")
@click.option("--zone", help="IANA time zone, like Asia/Dhaka.")
@click.option("--locale", help="Language, like bn or en.")
@click.option("--quiet", metavar="HH:MM-HH:MM", help="Own quiet hours; `off` switches them off.")
@click.option("--consent", multiple=True, metavar="CATEGORY", help="The user agreed to this category.")
@click.option("--withdraw", multiple=True, metavar="CATEGORY", help="The user takes that back.")
@click.option("--opt-out", "outs", multiple=True, metavar="CATEGORY[/CHANNEL]", help="Switch off.")
@click.option("--opt-in", "ins", multiple=True, metavar="CATEGORY[/CHANNEL]", help="Switch on again.")
@click.option("--block/--unblock", "blocked", default=None, help="Send nothing but what is mandatory.")
@click.option("--erase", is_flag=True, help="Forget the user.")
@json_option
@with_settings
def command(
    settings: Settings,
    user: str,
    tokens: tuple[str, ...],
    number: str | None,
    zone: str | None,
    locale: str | None,
    quiet: str | None,
    consent: tuple[str, ...],
    withdraw: tuple[str, ...],
    outs: tuple[str, ...],
    ins: tuple[str, ...],
    blocked: bool | None,
    erase: bool,
    as_json: bool,
) -> None:
    """Tell the pipeline what is known of a USER; each option is one command on `profiles`."""
    kafka = addresses_of(settings).kafka
    at = WallClock().now_ms() + present_shift_ms(kafka)
    who = {"user_id": user, "source": _SOURCE}
    commands: list[ProfileCommand] = []
    if zone is not None:
        commands.append(SetZone(at=at, zone=zone, **who))
    if locale is not None:
        commands.append(SetLocale(at=at, locale=locale, **who))
    for place, token in enumerate(tokens, start=1):
        commands.append(RegisterDevice(at=at, device_id=f"phone-{place}", token=token, **who))
    if number is not None:
        commands.append(SetContact(at=at, channel=Channel.SMS, address=number, verified=True, **who))
    if quiet is not None:
        start, end = _hours(quiet)
        commands.append(SetQuietHours(at=at, start=start, end=end, **who))
    commands += [Consent(at=at, category=name, given=True, evidence=_SOURCE, **who) for name in consent]
    commands += [Consent(at=at, category=name, given=False, evidence=_SOURCE, **who) for name in withdraw]
    for texts, allowed in ((outs, False), (ins, True)):
        for text in texts:
            category, _, channel = text.partition("/")
            commands.append(
                SetPreference(at=at, category=category, channel=channel or "*", allowed=allowed, **who)
            )
    if blocked is not None:
        commands.append(Block(at=at, blocked=blocked, **who))
    if erase:
        commands.append(Erase(at=at, **who))
    if not commands:
        raise click.UsageError("say what is known of the user: see --help")
    with ClientProducer(kafka, WallClock(), linger_ms=0) as producer:
        for each in commands:
            producer.send(PROFILES.full_name, user.encode(), to_json(each))
        producer.flush()
    if as_json:
        print_json(as_plain(commands))
    else:
        click.echo(f"{len(commands)} command{'s' * (len(commands) > 1)} written to {PROFILES.full_name}")


def _hours(text: str) -> tuple[str, str]:
    """Return start and end of quiet hours; both empty for `off`."""
    if text == "off":
        return "", ""
    found = _HOURS.fullmatch(text)
    if found is None:
        raise SettingError("--quiet", "give HH:MM-HH:MM, like 22:00-08:00, or off")
    return found[1], found[2]
