"""`harkara audit`: proves that nothing accepted was lost, by counting three ways."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import click
from msgspec.structs import asdict
from rich.console import Console
from rich.progress import Progress as Bar

from connectors.kafka.scan import Scan
from harkara.audit.audit import Progress, Report, audit, look
from harkara.audit.verdict import KINDS, LAW
from harkara.cli.options import json_option, with_settings
from harkara.cli.output import print_json, print_table
from harkara.embedded.running import running_stack
from harkara.questions.asking import answering
from harkara.settings import Settings


@click.command(name="audit")
@click.option("--list", "listed", is_flag=True, help="Name every culprit.")
@json_option
@with_settings
def command(settings: Settings, listed: bool, as_json: bool) -> None:
    """Count what Kafka, the roles' state and ClickHouse know, compare them, and exit 0 only if it holds.

    accepted = sent + failed + expired + suppressed + cancelled + merged + unknown + pending, at one cut
    of offsets, over every event that is still on the log.
    """
    with (
        running_stack(settings) as addresses,
        answering(addresses.clickhouse) as client,
        _progress() as told,
    ):
        scan = Scan(addresses.kafka)
        report = audit(lambda: look(scan, client, time.time_ns() // 1_000_000, told))
    if as_json:
        print_json({k: v for k, v in asdict(report).items() if listed or k != "findings"})
    else:
        print_report(report, listed)
    if not report.holds:
        raise SystemExit(1)


def print_report(report: Report, listed: bool) -> None:
    """Show the law, what the witnesses say, and what does not fit."""
    print_table("Audit", ("accepted", *LAW), [[report.accepted, *(report.parts[part] for part in LAW)]])
    names = sorted({name for counts in report.witnesses.values() for name in counts})
    rows = [[name, *(counts.get(name) for counts in report.witnesses.values())] for name in names]
    print_table("Deliveries as each witness says", ("status", *report.witnesses), rows)
    print_table("Events", tuple(report.events), [list(report.events.values())])
    pending = {kind: count for kind, count in report.pending.items() if count}
    if pending:
        print_table("Pending", tuple(pending), [list(pending.values())])
    if report.differences:
        rows = [[kind, count, KINDS[kind]] for kind, count in report.differences.items()]
        print_table("Findings", ("kind", "count", "meaning"), rows)
    if listed and report.findings:
        print_table("Culprits", ("kind", "who", "detail"), [list(finding) for finding in report.findings])
    holds = "holds" if report.holds else "DOES NOT HOLD"
    click.echo(
        f"The audit {holds}: {report.lost} lost, {report.duplicate_sends} sent twice without an explanation"
        f" ({report.looks} looks, {report.seconds:.1f} s)"
    )


@contextmanager
def _progress() -> Iterator[Progress]:
    """A bar on standard error where somebody may look at it."""
    console = Console(stderr=True)
    if not sys.stderr.isatty():
        yield lambda _what, _done, _all: None
        return
    with Bar(console=console, transient=True) as bar:
        task = bar.add_task("audit")

        def told(what: str, done: int, steps: int) -> None:
            bar.update(task, description=f"audit: {what}", completed=done, total=steps)

        yield told
