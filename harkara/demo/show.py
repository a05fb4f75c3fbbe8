"""Prints what came of the day: tables for people, every figure from the running system."""

import click

from harkara.cli.audit import print_report
from harkara.cli.funnel import print_funnel
from harkara.cli.output import print_table
from harkara.demo.chart import pace_rows
from harkara.demo.day import Played
from harkara.demo.faults import PROVIDER
from harkara.demo.findings import Findings
from harkara.demo.percentiles import Percentiles

_MOST_ANSWERS = 6


def show(findings: Findings, played: Played) -> None:
    """Print all tables, the audit last."""
    scenes = [
        [scene.name, scene.seconds, "everything settled" if scene.drained else "something is under way"]
        for scene in played.scenes
    ]
    print_table("The day", ("scene", "seconds", "at its end"), scenes)
    click.echo()
    print_funnel(findings.funnel)
    click.echo()
    reasons = [[why.status, why.reason, why.deliveries] for why in findings.reasons]
    print_table("Not sent, or not yet", ("status", "reason", "deliveries"), reasons)
    click.echo()
    refused = sorted((played.tally.refused + played.tally.dead).items(), key=lambda item: -item[1])
    print_table("Refused or put aside", ("reason", "records"), [list(row) for row in refused])
    click.echo()
    _show_logins(findings)
    click.echo()
    _show_pace(played)
    click.echo()
    _show_providers(findings)
    click.echo()
    print_report(findings.audit, listed=not findings.audit.holds)


def _show_logins(findings: Findings) -> None:
    rows = [[scene.scene, scene.passwords, *_cells(scene.ms), scene.missing] for scene in findings.logins]
    columns = ("one-time passwords", "events", "calls", "p50 ms", "p99 ms", "max ms", "never called")
    print_table("From Kafka's confirmation to the provider, first attempts", columns, rows)


def _cells(ms: Percentiles) -> tuple[int | None, ...]:
    return ms.count, ms.p50, ms.p99, ms.max


def _show_pace(played: Played) -> None:
    columns = ("time", PROVIDER, "breaker", "phase", "calls/s allowed", "")
    print_table(
        f"Pace of {PROVIDER} through its outage", columns, pace_rows(played.samples, PROVIDER, played.outage)
    )


def _show_providers(findings: Findings) -> None:
    rows = []
    for name, figures in sorted(findings.providers.items()):
        answers = sorted(figures.answers.items(), key=lambda item: -item[1])[:_MOST_ANSWERS]
        told = ", ".join(f"{answer} {count:,}" for answer, count in answers)
        rows.append([name, figures.calls, figures.accepted, told])
    print_table("What the providers got", ("provider", "calls", "accepted", "answers"), rows)
    check = findings.check
    click.echo(
        f"ledger: {check.received:,} deliveries went out, {check.sent:,} of the day's are sent;"
        f" {check.not_received} sent but not received, {check.not_told} received but not told,"
        f" {check.repeats} repeats, {check.unexplained} of them unexplained"
    )
