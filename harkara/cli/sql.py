"""`harkara sql`: any question to ClickHouse."""

import click

from harkara.cli.options import json_option, with_settings
from harkara.cli.output import print_json, print_table
from harkara.questions.asking import clickhouse
from harkara.questions.sql import as_csv, ask
from harkara.settings import Settings


@click.command(name="sql")
@click.argument("statement")
@json_option
@click.option("--csv", "csv", is_flag=True, help="Print CSV with a line of names.")
@with_settings
def command(settings: Settings, statement: str, as_json: bool, csv: bool) -> None:
    """Ask SQL; what would change something is refused.

    The views are v_funnel, v_reasons, v_latency, v_cost, v_provider_health, v_timeline and v_delivery
    in the database harkara; `harkara sql "DESCRIBE harkara.v_funnel"` shows what each column means.
    """
    if as_json and csv:
        raise click.UsageError("give --json or --csv, not both")
    with clickhouse(settings) as client:
        if csv:
            click.echo(as_csv(client, statement), nl=False)
            return
        found = ask(client, statement)
    if as_json:
        print_json([dict(zip(found.columns, row, strict=True)) for row in found.rows])
    else:
        print_table("", found.columns, found.rows)
