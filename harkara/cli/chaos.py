"""`harkara chaos`: seeded faults in the middle of a flow on a pipeline of its own, and the verdict."""

import shutil
import sys
from dataclasses import replace
from pathlib import Path

import click

from connectors.embedded.progress import reporter_on
from harkara.chaos.attack import PROVIDERS, Attacked, attack, settings_of
from harkara.chaos.faults import drawn
from harkara.cli.options import with_settings
from harkara.cli.output import print_table
from harkara.embedded.pipeline import EmbeddedPipeline
from harkara.settings import Settings, variable
from streams.errors import SettingError
from streams.records.codec import to_json

#: One fault and the time after it take about this long.
_FAULT_S = 30.0


@click.command()
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Draws the faults.")
@click.option(
    "--minutes", type=click.FloatRange(0.5, 600), default=5.0, show_default=True, help="About so long."
)
@click.option(
    "--gone",
    "gone_s",
    type=click.FloatRange(1, 600),
    default=10.0,
    show_default=True,
    help="Seconds a server stays away.",
)
@click.option(
    "--json", "path", type=click.Path(path_type=Path, dir_okay=False), help="Write the outcome here."
)
@with_settings
def command(settings: Settings, seed: int, minutes: float, gone_s: float, path: Path | None) -> None:
    """Kill, suspend, move and take away what a seed says, while events flow; then judge what is left.

    It runs servers and roles of its own under the data folder and touches nothing else there.
    Exit 0 only if every promise held; otherwise the folder stays, with its logs.
    """
    for name in ("kafka", "redis", "clickhouse"):
        if getattr(settings, name) is not None:
            raise SettingError(variable(name), "chaos takes its servers away, so it runs its own: unset it")
    folder = settings.folder.absolute() / f"chaos-{seed}"
    shutil.rmtree(folder, ignore_errors=True)
    own = settings_of(replace(settings, folder=folder))
    names = drawn(seed, max(1, round(minutes * 60 / _FAULT_S)))
    with EmbeddedPipeline(own, script=PROVIDERS, reporter=reporter_on(sys.stderr)) as pipeline:
        attacked = attack(
            pipeline, names, seed, tag=f"s{seed}", gone_s=gone_s, say=lambda line: click.echo(line, err=True)
        )
    if path is not None:
        path.write_bytes(to_json(attacked))
    _show(attacked)
    if not attacked.holds:
        click.echo(f"harkara: not every promise held; logs and data are in {folder}", err=True)
        raise SystemExit(1)
    shutil.rmtree(folder)


def _show(attacked: Attacked) -> None:
    print_table("Faults", ("fault", "seconds until all was there again"), attacked.faults.items())
    print_table("What is left", ("figure", "count"), attacked.verdict.figures.items())
    broken = [(promise, example) for promise, found in attacked.verdict.broken.items() for example in found]
    broken += [
        ("a role's log is readable", f"{name}: {count} lines") for name, count in attacked.noisy.items()
    ]
    if broken:
        print_table("Broken", ("promise", "by"), broken)
    else:
        click.echo("Every promise held.")
