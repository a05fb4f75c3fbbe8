"""The frame of the command line."""

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import harkara.cli as cli
from streams.errors import OffsetGap


@pytest.mark.parametrize("name", [name for name, _ in cli.COMMANDS])
def test_every_listed_command_exists_and_explains_itself(name: str) -> None:
    """Each listed command has a file, goes by its listed name and has a help text."""
    command = cli.main.get_command(click.Context(cli.main), name)
    assert command is not None
    assert command.name == name
    assert command.help


def test_every_command_file_is_listed() -> None:
    """A command that was written but not listed would never be found."""
    files = {path.stem for path in Path(cli.__file__).parent.glob("*.py")}
    defined = {name for name in files if "\ncommand = " in _text(name) or "\ndef command(" in _text(name)}
    assert defined == {name.replace("-", "_") for name, _ in cli.COMMANDS}


def _text(name: str) -> str:
    return (Path(cli.__file__).parent / f"{name}.py").read_text()


def test_help_lists_the_commands() -> None:
    """`harkara` alone and `harkara --help` show every command with its meaning."""
    result = CliRunner().invoke(cli.main, ["--help"])
    assert result.exit_code == 0
    for name, meaning in cli.COMMANDS:
        assert name in result.output
        assert meaning in " ".join(result.output.split())


def test_unknown_command_is_refused() -> None:
    """A mistyped command is named and nothing runs."""
    result = CliRunner().invoke(cli.main, ["confgi"])
    assert result.exit_code == 2
    assert "confgi" in result.stderr


def test_our_error_is_one_line_and_exit_2(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error that a person can mend is shown without a traceback."""

    @click.command()
    def gap() -> None:
        raise OffsetGap("ingest.bulk 3\nexpected 7")

    monkeypatch.setattr(cli.Commands, "get_command", lambda *_: gap)
    result = CliRunner().invoke(cli.main, ["gap"])
    assert result.exit_code == 2
    assert result.stderr == "harkara: ingest.bulk 3 expected 7\n"
    assert result.stdout == ""


def test_other_errors_keep_their_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mistake of ours is not hidden."""

    @click.command()
    def broken() -> None:
        raise KeyError("x")

    monkeypatch.setattr(cli.Commands, "get_command", lambda *_: broken)
    assert isinstance(CliRunner().invoke(cli.main, ["broken"]).exception, KeyError)
