"""What several commands take: the settings and `--json`."""

import functools
from collections.abc import Callable
from typing import Concatenate, ParamSpec

import click

from harkara.settings import Settings

P = ParamSpec("P")

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")


def with_settings(command: Callable[Concatenate[Settings, P], None]) -> Callable[P, None]:
    """Give a command the settings as its first argument, read when it is called.

    Raises `SettingError` before the command runs if one of them is wrong.
    """

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        folder = click.get_current_context().find_root().obj
        command(Settings.from_environ(folder=folder), *args, **kwargs)

    return run
