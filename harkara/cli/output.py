"""How a command answers: a table for people, or one JSON document."""

from collections.abc import Iterable, Sequence

import click
import msgspec
from rich.console import Console
from rich.table import Table

PIPE_WIDTH = 10_000


def print_json(value: object) -> None:
    """Print `value` as one indented JSON document."""
    click.echo(msgspec.json.format(msgspec.json.encode(value), indent=2))


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table; numbers stand on the right, and where nothing is known there is a dash."""
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    rows = list(rows)
    for place, column in enumerate(columns):
        numeric = bool(rows) and all(isinstance(row[place], int | float | None) for row in rows)
        table.add_column(column, justify="right" if numeric else "left", overflow="fold", no_wrap=place == 0)
    for row in rows:
        table.add_row(*(_cell(value) for value in row))
    # Markup off: data must never style or hide a table. In a pipe no line is folded, for grep.
    console = Console(markup=False, highlight=False)
    if not console.is_terminal:
        console.width = PIPE_WIDTH
    console.print(table)


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return str(value)
