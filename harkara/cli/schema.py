"""`harkara schema`: make and check the tables and views of ClickHouse."""

import secrets

import click

from connectors.clickhouse.client import connect
from connectors.clickhouse.migrations import DATABASE
from connectors.clickhouse.schema import Schema
from harkara.cli.options import json_option, with_settings
from harkara.cli.output import print_json, print_table
from harkara.embedded.running import running_stack
from harkara.settings import Settings


@click.group(short_help="Make or check the tables of ClickHouse.")
def command() -> None:
    """Make or check the tables and views of ClickHouse."""


@command.command()
@json_option
@with_settings
def apply(settings: Settings, as_json: bool) -> None:
    """Apply what is not applied yet; running it again does no harm."""
    with running_stack(settings) as addresses:
        done = Schema(connect(addresses.clickhouse)).apply()
    if as_json:
        print_json(done)
        return
    for name in done:
        click.echo(f"applied {name}")
    if not done:
        click.echo("nothing to do")


@command.command()
@json_option
@with_settings
def check(settings: Settings, as_json: bool) -> None:
    """Name whatever differs from this release, change nothing; exit 1 if anything does.

    The schema is made once more beside the real one, to compare, and dropped again.
    """
    scratch = f"{DATABASE}_check_{secrets.token_hex(4)}"
    with running_stack(settings) as addresses:
        found = Schema(connect(addresses.clickhouse)).check(scratch)
    if as_json:
        print_json([{"object": d.object, "found": d.found, "wanted": d.wanted} for d in found])
    elif found:
        print_table("Schema", ("object", "found", "wanted"), [[d.object, d.found, d.wanted] for d in found])
    else:
        click.echo("the schema is as it should be")
    if found:
        raise SystemExit(1)
