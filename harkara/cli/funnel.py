"""`harkara funnel`: what became of everything that was accepted, in any slice."""

import time

import click

from harkara.cli.options import json_option, with_settings
from harkara.cli.output import print_json, print_table
from harkara.questions.asking import clickhouse
from harkara.questions.funnel import COUNTS, SLICES, Funnel, funnel, refresh
from harkara.questions.moments import moment_ms, shown
from harkara.settings import Settings

_LATENCY = "sent_p99_ms"


@click.command(name="funnel")
@click.option("--by", default="lane,channel", show_default=True, help=f"Any of {', '.join(SLICES)}.")
@click.option("--since", help="Admissions since: 90m, 24h, 7d, or 2026-12-01T08:00 (UTC); whole hours.")
@json_option
@with_settings
def command(settings: Settings, by: str, since: str | None, as_json: bool) -> None:
    """Show the funnel: each delivery counted once, where it stands now.

    accepted = pending + sent + failed + expired + suppressed + cancelled + merged + unknown; delivered,
    read, clicked and bounced are parts of sent. Duplicates made no delivery and stand beside.
    """
    since_ms = None if since is None else moment_ms(since, time.time_ns() // 1_000_000)
    slices = tuple(name.strip() for name in by.split(",") if name.strip())
    with clickhouse(settings, pinned={}) as client:
        fresh = refresh(client)
        found = funnel(client, slices, since_ms)
    if as_json:
        print_json(found)
        return
    print_funnel(found)
    if not fresh:
        click.echo(f"as of {shown(found.counted_at_ms)}: counting anew is not allowed or not done", err=True)


def print_funnel(found: Funnel) -> None:
    """Columns in which nothing happened are left out."""
    columns = [name for name in COUNTS if found.total[name] or name in ("accepted", "sent")]
    rows = [
        [row[name] or "-" for name in found.by] + [row[name] for name in (*columns, _LATENCY)]
        for row in found.rows
    ]
    if found.by:
        total = [*["" for _ in found.by[1:]], *[found.total[name] for name in (*columns, _LATENCY)]]
        rows.append(["total", *total])
    else:
        rows = [[found.total[name] for name in (*columns, _LATENCY)]]
    print_table("Funnel", (*found.by, *columns, _LATENCY), rows)
