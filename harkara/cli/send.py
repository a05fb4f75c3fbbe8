"""`harkara send`: one event to the lane of its type, as any producer would write it."""

from uuid import uuid4

import click

from connectors.kafka.client_producer import ClientProducer, Stored
from connectors.kafka.tail import Tail
from harkara.addresses import addresses_of
from harkara.catalogs import catalog_of
from harkara.cli import Refused
from harkara.cli.options import json_option, with_settings
from harkara.cli.output import print_json
from harkara.client.event_data import read_data
from harkara.client.fitness import lane_of, unfit
from harkara.client.following import FOLLOWED, End, Fact, Following
from harkara.client.instants import read_instant
from harkara.client.wording import line_of
from harkara.clock_shift import present_shift_ms
from harkara.settings import Settings
from harkara.wall_clock import WallClock
from streams.catalog.tenant import DEFAULT_TENANT
from streams.errors import SettingError
from streams.ids import notification_id
from streams.records.codec import as_plain, to_json
from streams.records.notification import Notification
from streams.topics import CHANNELS, INGEST


@click.command()
@click.argument("type_name", metavar="TYPE")
@click.option("--user", required=True, help="Whom to tell: the user's id.")
@click.option("--data", "document", metavar="JSON", help="The event's data as one JSON object.")
@click.option(
    "-d", "pairs", multiple=True, metavar="NAME=VALUE", help="One value of the data; may be repeated."
)
@click.option("--key", default="", help="Idempotency key: the same key again makes no second delivery.")
@click.option(
    "--id", "given_id", default="", help="Notification id; a new one if neither key nor id is given."
)
@click.option(
    "--channel",
    "channels",
    multiple=True,
    type=click.Choice([channel.value for channel in CHANNELS]),
    help="Only this channel.",
)
@click.option("--to", "addresses", multiple=True, metavar="CHANNEL=ADDRESS", help="For types that allow it.")
@click.option("--locale", default="", help="Language of this message; else the user's own.")
@click.option("--at", "send_at", metavar="INSTANT", help="Not before: +5m, ISO 8601 or milliseconds.")
@click.option("--expires", "expires_at", metavar="INSTANT", help="Not after, likewise.")
@click.option("--unchecked", is_flag=True, help="Send it even if the router will refuse it.")
@click.option("--wait", is_flag=True, help="Follow it until it is settled.")
@click.option(
    "--patience", type=click.FloatRange(0.1), default=30.0, show_default=True, help="Seconds to wait."
)
@json_option
@with_settings
def command(
    settings: Settings,
    type_name: str,
    user: str,
    document: str | None,
    pairs: tuple[str, ...],
    key: str,
    given_id: str,
    channels: tuple[str, ...],
    addresses: tuple[str, ...],
    locale: str,
    send_at: str | None,
    expires_at: str | None,
    unchecked: bool,
    wait: bool,
    patience: float,
    as_json: bool,
) -> None:
    """Send one event of a TYPE to a user; the type decides lane, channels and text.

    With --wait it exits 1 if the event is refused or not settled in time.
    """
    kafka = addresses_of(settings).kafka
    now_ms = 0
    if send_at is not None or expires_at is not None:
        now_ms = WallClock().now_ms() + present_shift_ms(kafka)
    notification = Notification(
        user_id=user,
        type=type_name,
        data=read_data(document, pairs),
        notification_id=given_id or ("" if key else str(uuid4())),
        idempotency_key=key,
        send_at=None if send_at is None else read_instant("--at", send_at, now_ms),
        expires_at=None if expires_at is None else read_instant("--expires", expires_at, now_ms),
        locale=locale,
        channels=channels or None,
        address=_addresses(addresses),
        source="harkara send",
    )
    catalog = catalog_of(settings)
    if not unchecked and (problem := unfit(notification, catalog)) is not None:
        raise Refused(problem)
    topic = INGEST[lane_of(notification, catalog)].full_name
    facts: list[Fact] = []
    with Tail(kafka, FOLLOWED if wait else ()) as tail:
        stored = _write(kafka, topic, notification)
        sent = as_plain(stored) | {"notification_id": _id_of(notification)}
        if not as_json:
            click.echo(f"sent to {topic}, partition {stored.partition}, offset {stored.offset}")
        following = Following(tail, stored)
        if wait:
            for fact in following.facts(patience):
                facts.append(fact)
                if not as_json:
                    click.echo(line_of(fact))
    if as_json:
        print_json(sent | {"end": following.end if wait else None, "facts": as_plain(facts)})
    elif not wait:
        click.echo(f"ask what became of it: harkara why {sent['notification_id']}")
    elif following.end is not End.SETTLED:
        click.echo(_TOLD[following.end], err=True)
    if wait and following.end in (End.REFUSED, End.UNDER_WAY):
        raise SystemExit(1)


_TOLD = {
    End.REFUSED: "refused: nothing will be sent",
    End.HELD: "it waits for that instant; harkara why tells the rule",
    End.UNDER_WAY: "not settled yet; it goes on by itself",
}


def _id_of(notification: Notification) -> str:
    """Return the notification's id as the pipeline will know it."""
    return notification.notification_id or notification_id(DEFAULT_TENANT, notification.idempotency_key)


def _write(kafka: str, topic: str, notification: Notification) -> Stored:
    found: list[Stored] = []
    with ClientProducer(kafka, WallClock(), linger_ms=0) as producer:
        producer.send(topic, notification.user_id.encode(), to_json(notification), found.append)
        producer.flush()
    return found[0]


def _addresses(given: tuple[str, ...]) -> dict[str, str] | None:
    """Return --to's addresses by channel."""
    found: dict[str, str] = {}
    for text in given:
        channel, equals, address = text.partition("=")
        if channel not in CHANNELS or not equals or not address:
            raise SettingError("--to", "give CHANNEL=ADDRESS, for example sms=+8801712345678")
        found[channel] = address
    return found or None
