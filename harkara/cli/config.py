"""`harkara config`: which settings are in force, and whether they work."""

import click

from harkara.cli.options import json_option, with_settings
from harkara.cli.output import print_json, print_table
from harkara.reachability import unreachable
from harkara.setting_kinds import shown
from harkara.settings import DECLARED, Settings, problems, variable
from streams.errors import SettingError


@click.group(name="config", short_help="Show or check the settings.")
def command() -> None:
    """Show or check the settings."""


@command.command()
@json_option
@with_settings
def show(settings: Settings, as_json: bool) -> None:
    """Print each setting with its value, unit, source and meaning; secrets as ***."""
    rows = [
        {
            "name": variable(spec.name),
            "value": shown(getattr(settings, spec.name)),
            "unit": spec.metadata["kind"].unit,
            "source": settings.sources.get(spec.name, "default"),
            "default": shown(spec.default),
            "meaning": spec.metadata["doc"],
        }
        for spec in DECLARED
    ]
    if as_json:
        print_json(rows)
    else:
        columns = ("name", "value", "unit", "source", "meaning")
        print_table("Settings", columns, [[row[column] for column in columns] for row in rows])


@command.command()
@json_option
@click.pass_context
def check(ctx: click.Context, as_json: bool) -> None:
    """Check every setting and reach what the URLs name; exit 2 with each mend if something is wrong."""
    wrong: list[SettingError] = problems()
    if not wrong:
        wrong = unreachable(Settings.from_environ(folder=ctx.find_root().obj))
    if as_json:
        print_json([{"name": problem.name, "mend": problem.mend} for problem in wrong])
    else:
        for problem in wrong:
            click.echo(str(problem), err=True)
        if not wrong:
            click.echo("Every setting is well formed, and everything that is configured answers.")
    if wrong:
        ctx.exit(2)
