"""`harkara up`: the whole pipeline on this machine, until it is told to stop."""

import signal
import sys
import threading
import time
from types import FrameType

import click
from rich.console import Console
from rich.live import Live
from rich.text import Text

from connectors.embedded.addresses import Addresses
from connectors.embedded.progress import reporter_on
from harkara.cli.options import with_settings
from harkara.client.instants import show_instant
from harkara.clock_shift import present_shift_ms
from harkara.embedded.pipeline import EmbeddedPipeline
from harkara.settings import Settings
from harkara.tally import Tally
from harkara.wall_clock import WallClock
from harkara.watch import Watch
from streams.statuses import Status

_LOOK_S = 1.0
_FIRST_STEPS = (
    "harkara profile u-42 --sms +8801712345678 --locale bn",
    "harkara send otp --user u-42 -d code='\"4711\"' --wait",
    "harkara why --user u-42",
)


@click.command()
@with_settings
def command(settings: Settings) -> None:
    """Start the embedded stack, simulated providers and every role; stay up until Ctrl-C.

    Data stays in the folder; a later start goes on where this one stopped.
    """
    ending = threading.Event()

    def end(_number: int, _frame: FrameType | None) -> None:
        ending.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    console = Console(stderr=True, highlight=False)
    began = time.monotonic()
    pipeline = EmbeddedPipeline(settings, reporter=reporter_on(sys.stderr))
    with console.status("starting Kafka, Valkey, ClickHouse, the simulator and the roles"):
        addresses = pipeline.start()
    try:
        shift_ms = present_shift_ms(addresses.kafka)
        _say(pipeline, addresses, shift_ms, time.monotonic() - began)
        with Watch(addresses.kafka) as watch:
            _stay(console, pipeline, watch, shift_ms, ending)
    finally:
        with console.status("stopping: roles drain, then the stack"):
            pipeline.stop()


def _say(pipeline: EmbeddedPipeline, addresses: Addresses, shift_ms: int, took_s: float) -> None:
    """Print where everything is and what to try."""
    click.echo(f"up after {took_s:.1f} s: {', '.join(pipeline.roles)} are ready")
    click.echo(f"  Kafka       {addresses.kafka}")
    click.echo(f"  Valkey      {addresses.redis}")
    click.echo(f"  ClickHouse  {addresses.clickhouse.rpartition('@')[2]} (password in stack.json)")
    click.echo(f"  simulator   {addresses.simulator}")
    if shift_ms:
        click.echo(f"  the clock is the demo's: it is {show_instant(WallClock().now_ms() + shift_ms)} here")
    click.echo("try, in another terminal:")
    for line in _FIRST_STEPS:
        click.echo(f"  {line}")


def _stay(
    console: Console, pipeline: EmbeddedPipeline, watch: Watch, shift_ms: int, ending: threading.Event
) -> None:
    """Wait for the end; on a terminal one line tells how things stand."""
    if not console.is_terminal:
        ending.wait()
        return
    with Live(console=console, refresh_per_second=4, transient=True) as live:
        while not ending.wait(_LOOK_S):
            now_ms = WallClock().now_ms() + shift_ms
            live.update(Text(f"{watch.ask(_counts)} · {_health(pipeline)} · {show_instant(now_ms)}"))


def _counts(tally: Tally) -> str:
    waiting = tally.count(Status.DEFERRED)
    sent = tally.count(Status.SENT)
    return f"since the start: accepted {tally.accepted:,}, sent {sent:,}, waiting {waiting:,}"


def _health(pipeline: EmbeddedPipeline) -> str:
    down = [status.name for status in (*pipeline.stack.status(), *pipeline.status()) if status.pid is None]
    return f"restarting: {', '.join(down)}" if down else "all processes run"
