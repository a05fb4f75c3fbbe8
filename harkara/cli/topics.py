"""`harkara topics`: make and check the topics and changelogs."""

import click

from connectors.kafka import admin
from harkara.addresses import addresses_of
from harkara.cli.options import json_option, with_settings
from harkara.cli.output import print_json, print_table
from harkara.settings import Settings


def _wanted(settings: Settings) -> list[admin.Wanted]:
    return admin.wanted_topics(settings.partitions, lean=settings.kafka is None)


@click.group(short_help="Make or check the topics and changelogs.")
def command() -> None:
    """Make or check the topics and changelogs."""


@command.command()
@json_option
@with_settings
def apply(settings: Settings, as_json: bool) -> None:
    """Create what is missing and set what differs; partition counts are never changed."""
    done = admin.apply(addresses_of(settings).kafka, _wanted(settings), settings.replication)
    if as_json:
        print_json(done)
        return
    for line in done:
        click.echo(line)
    click.echo("nothing to do" if not done else f"{len(done)} changes")


@command.command()
@json_option
@with_settings
def check(settings: Settings, as_json: bool) -> None:
    """Show what is not as it should be; exit 1 if anything is."""
    found = admin.check(addresses_of(settings).kafka, _wanted(settings))
    if as_json:
        print_json(found)
    elif found:
        rows = [
            [d.topic, d.what, d.found, d.wanted, "topics apply" if d.mendable else "by hand"] for d in found
        ]
        print_table("Topics", ("topic", "what", "found", "wanted", "mend"), rows)
    else:
        click.echo("all topics are as they should be")
    if found:
        raise SystemExit(1)
