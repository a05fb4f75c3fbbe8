"""Any question in SQL; nothing but questions."""

from datetime import date, datetime
from ipaddress import IPv4Address, IPv6Address
from typing import Any, Final
from uuid import UUID

from clickhouse_connect.driver.client import Client
from msgspec import Struct

from streams.errors import HarkaraError

#: How ClickHouse's parser calls what changes nothing.
_QUESTIONS: Final = ("Select", "Show", "Describe", "Explain", "Exists")


class Result(Struct, frozen=True):
    """What SQL gave: plain values, times as ISO text, ids as text."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]


class NoQuestion(HarkaraError):
    """A statement that is not only a question."""


def ask(client: Client, sql: str) -> Result:
    """Return the rows of a statement. Raises NoQuestion for what is none; the server refuses it too."""
    found = client.query(_question(client, sql))
    rows = [tuple(_plain(value) for value in row) for row in found.result_rows]
    return Result(tuple(found.column_names), rows)


def as_csv(client: Client, sql: str) -> str:
    """Return the rows as CSV with a line of names, as ClickHouse writes it."""
    return client.raw_query(_question(client, sql), fmt="CSVWithNames").decode()


def _question(client: Client, sql: str) -> str:
    """Return the statement, after ClickHouse itself has read what kind it is.

    Read-only mode alone lets `INSERT INTO FUNCTION file(…)` write files.
    """
    statement = sql.strip().rstrip(";")
    kind = str(client.query(f"EXPLAIN AST {statement}").result_rows[0][0])
    if not kind.startswith(_QUESTIONS):
        raise NoQuestion("only questions are answered: SELECT, SHOW, DESCRIBE, EXPLAIN, EXISTS")
    return statement


def _plain(value: Any) -> Any:
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, UUID | IPv4Address | IPv6Address):
        return str(value)
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    return value
