"""Reads just enough SQL to tell an insert's statement from the rows that follow it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

# What a statement is made of, as far as it matters here: comments and quoted text, in which no
# keyword counts; words; parentheses; everything else, one character at a time.
_TOKEN = re.compile(
    rb"""--[^\n]*|/\*.*?\*/|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`"""
    rb"""|(?P<word>[A-Za-z_][A-Za-z0-9_]*)|(?P<nesting>[()])|.""",
    re.DOTALL,
)
# Between the format's name and the rows: blanks, then at most one line end. As ClickHouse has it.
_GAP = re.compile(rb"[ \t\f]*\r?\n?")
_TRAILING_FORMAT = re.compile(rb"\bFORMAT\s+([A-Za-z0-9_]+)\s*(?:\bSETTINGS\s[^;]*)?;?\s*$", re.IGNORECASE)
_LONGEST_TAIL_BYTES = 1_000
# An insert with one of these takes its rows from the statement itself or from elsewhere.
_OTHER_SOURCES = {b"SELECT", b"WITH", b"VALUES", b"INFILE"}


@dataclass(frozen=True)
class Insert:
    """An INSERT whose rows follow its statement in a named format."""

    statement: str  # without its FORMAT clause
    format: str
    rows_at: int  # where in the text the rows begin
    source_at: int = -1  # where in the statement another source of rows would be named; -1: at its end


def read_insert(sql: bytes) -> Insert | None:
    """Return the insert of formatted rows that `sql` begins with, or None when it is anything else."""
    words = _words(sql)
    if (first := next(words, None)) is None or first["word"].upper() != b"INSERT":
        return None
    source_at = -1
    for word in words:
        keyword = word["word"].upper()
        if keyword in _OTHER_SOURCES:
            return None
        if keyword == b"SETTINGS" and source_at < 0:
            source_at = len(sql[: word.start()].decode())
        if keyword == b"FORMAT" and (name := next(words, None)) is not None:
            gap = _GAP.match(sql, name.end())
            rows_at = name.end() if gap is None else gap.end()
            return Insert(sql[: word.start()].decode(), name["word"].decode(), rows_at, source_at)
    return None


def trailing_format(sql: bytes) -> str | None:
    """Return the output format that a query ends with, if it names one."""
    found = _TRAILING_FORMAT.search(sql[-_LONGEST_TAIL_BYTES:])
    return found[1].decode() if found else None


def _words(sql: bytes) -> Iterator["re.Match[bytes]"]:
    """Yield the words outside of comments, quotes and parentheses."""
    depth = 0
    for token in _TOKEN.finditer(sql):
        if token["nesting"]:
            depth += 1 if token["nesting"] == b"(" else -1
        elif token["word"] and depth == 0:
            yield token
