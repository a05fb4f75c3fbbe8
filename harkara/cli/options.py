"""What several commands take: the settings and `--json`."""

import functools
from collections.abc import Callable
from typing import Concatenate, ParamSpec

import click

from harkara import logs
from harkara.settings import Settings

P = ParamSpec("P")

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")


def with_settings(command: Callable[Concatenate[Settings, P], None]) -> Callable[P, None]:
    """Give a command the settings as its first argument, and its logs to standard error.

    Raises `SettingError` before the command runs if one of them is wrong.
    """

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        settings = Settings.from_environ(folder=click.get_current_context().find_root().obj)
        logs.configure("cli", settings.log_level, settings.log_format)
        command(settings, *args, **kwargs)

    return run
