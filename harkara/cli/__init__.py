"""The command line: one file a command, listed here and imported only when it is called.

Every command that answers a question takes `--json`: then standard output holds one JSON
document and nothing else. Progress, logs and errors go to standard error.
"""

import importlib
from pathlib import Path

import click

from streams.errors import HarkaraError

#: Each command with what it does; `catalog` lives in `harkara/cli/catalog.py` as `command`.
COMMANDS = [
    ("config", "Show or check the settings."),
    ("catalog", "Check the types and texts of the service."),
    ("topics", "Make or check the topics and changelogs."),
    ("demo", "Play a scripted day and show what came of it."),
    ("up", "Start the whole pipeline on this machine and stay up."),
    ("send", "Send one event to a user."),
    ("profile", "Tell what is known of a user."),
    ("funnel", "Show what became of everything that was accepted."),
    ("why", "Tell why a message was not sent, or not yet."),
    ("sql", "Ask ClickHouse any question in SQL."),
    ("audit", "Prove that nothing accepted was lost."),
    ("chaos", "Break a pipeline of its own while events flow, and judge what is left."),
    ("schema", "Make or check the tables of ClickHouse."),
    ("run", "Run a role until it is told to stop."),
]


class Refused(click.ClickException):
    """An error that a person can mend: one line, no traceback, exit code 2."""

    exit_code = 2

    def show(self, file: object = None) -> None:
        click.echo(f"harkara: {' '.join(self.message.split())}", err=True)


class Commands(click.Group):
    """Finds a command by its name in `COMMANDS`, so that `harkara --help` imports none of them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for name, _ in COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        module = importlib.import_module(f"harkara.cli.{cmd_name.replace('-', '_')}")
        command: click.Command = module.command
        command.name = cmd_name  # each file calls its own `command`
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(COMMANDS)

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except HarkaraError as error:
            raise Refused(str(error)) from error


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="harkara")
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Data folder; else HARKARA_FOLDER, else .harkara here.",
)
@click.pass_context
def main(ctx: click.Context, folder: Path | None) -> None:
    """Decide, pace and prove the delivery of notifications."""
    ctx.obj = folder
