"""`harkara demo`: a scripted day through the real pipeline, and what came of it."""

import asyncio
import signal
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import click
import msgspec
from rich.console import Console

from connectors.embedded.progress import reporter_on
from harkara.cli.options import with_settings
from harkara.clock_shift import present_shift_ms
from harkara.demo.day import Day, Played
from harkara.demo.faults import SCRIPT
from harkara.demo.findings import Findings, find_out
from harkara.demo.show import show
from harkara.demo.timetable import day_after
from harkara.demo.world import make_world
from harkara.embedded.pipeline import EmbeddedPipeline
from harkara.settings import Settings
from harkara.wall_clock import WallClock


@click.command()
@click.option("--users", type=click.IntRange(50), default=2_500, show_default=True, help="How many people.")
@click.option("--seed", type=int, default=7, show_default=True, help="The same seed is the same day.")
@click.option(
    "--json", "json_file", type=click.Path(path_type=Path, dir_okay=False), help="Write the figures."
)
@click.option("--keep-up", is_flag=True, help="Leave everything running until Ctrl-C.")
@with_settings
def command(settings: Settings, users: int, seed: int, json_file: Path | None, keep_up: bool) -> None:
    """Play a day of notifications on real Kafka, then show the funnel, the reasons and the audit.

    Providers are simulated, whatever the settings configure. It exits 0 only if the audit holds and
    the simulator's ledger agrees. The data stays: `harkara funnel`, `why` and `sql` go on from there.
    """
    begun = time.monotonic()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    console = Console(stderr=True, highlight=False)
    pipeline = EmbeddedPipeline(_simulated_only(settings), script=SCRIPT, reporter=reporter_on(sys.stderr))
    with console.status("starting Kafka, Valkey, ClickHouse, the simulator and the roles"):
        pipeline.start()
    try:
        played, findings = asyncio.run(_play(pipeline, console, seed, users))
        if not keep_up:
            with console.status("stopping: roles drain, then the stack"):
                pipeline.stop()
        seconds = time.monotonic() - begun
        show(findings, played)
        if json_file is not None:
            document = msgspec.json.encode(findings.as_json(played, seconds))
            json_file.write_bytes(msgspec.json.format(document) + b"\n")
        click.echo(f"{played.written:,} events in {seconds:.0f} s, start and stop included")
        if keep_up:
            click.echo("everything stays up until Ctrl-C; ask on in another terminal", err=True)
            with suppress(KeyboardInterrupt):
                signal.pause()
    finally:
        pipeline.stop()
    if not findings.holds:
        raise SystemExit(1)


async def _play(
    pipeline: EmbeddedPipeline, console: Console, seed: int, users: int
) -> tuple[Played, Findings]:
    """Play the day and ask what became of it, while everything is up."""
    addresses = pipeline.addresses
    timetable = day_after(WallClock().now_ms() + present_shift_ms(addresses.kafka))
    # A later day has another tag, since clocks only move forward.
    world = make_world(seed, users, f"d{timetable.day:%y%m%d}", timetable)
    async with pipeline.simulator() as simulator:
        first_entry = (await simulator.stats()).ledger.calls
        played = await Day(pipeline, world, timetable, console).play()
        with console.status("asking ClickHouse, the simulator's ledger and the audit"):
            findings = await find_out(addresses, simulator, world, played, timetable.morning_ms, first_entry)
    return played, findings


def _simulated_only(settings: Settings) -> Settings:
    """Return the settings without any real provider: the demo's people must not get messages."""
    return replace(
        settings,
        fcm_service_account=None,
        fcm_project_id=None,
        twilio_account_sid=None,
        twilio_auth_token=None,
        twilio_api_key=None,
        twilio_api_secret=None,
        twilio_from=None,
    )
