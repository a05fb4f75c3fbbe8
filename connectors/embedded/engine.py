"""The ClickHouse engine in this process: statements run one after another, each on a clean handle."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile

import chdb
from chdb.state.sqlitelike import Connection
from cramjam import DecompressionError, lz4

from connectors.embedded.statements import Insert, read_insert, trailing_format

# As a server would have it, and caches for a laptop. The argument names are ClickHouse's own settings.
_SETTINGS = {
    "implicit_select": "0",
    "mark_cache_size": "268435456",
    "max_server_memory_usage": "4294967296",
}
_SETTING_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CODE = re.compile(r"Code: (\d+)")
_BAD_ARGUMENTS = 36


@dataclass(frozen=True)
class Statement:
    """What a client asks for."""

    sql: bytes  # for an insert, its rows may follow in the same text
    rows: bytes = b""  # or here
    is_lz4: bool = False  # the rows, or without rows the text, are LZ4 frames
    database: str = ""
    settings: Mapping[str, str] | None = None
    parameters: Mapping[str, str] | None = None
    default_format: str = ""


@dataclass(frozen=True)
class Answer:
    """What the engine gave back."""

    body: memoryview
    format: str | None  # None: the statement gives no result set
    rows_read: int = 0
    rows_written: int = 0
    owner: object = None  # of the memory that `body` shows; it must live as long


class Refused(Exception):
    """The engine refused a statement; carries ClickHouse's exception code and message."""

    def __init__(self, message: str) -> None:
        start = message.find("Code: ")
        super().__init__(message[max(start, 0) :])
        found = _CODE.search(message)
        self.code = int(found[1]) if found else _BAD_ARGUMENTS


class Engine:
    """Owns the data of one path. Every call must come from one and the same thread."""

    def __init__(self, path: Path) -> None:
        """Open the data at `path`. Raises RuntimeError when another process has it open."""
        arguments = "&".join(f"{name}={value}" for name, value in _SETTINGS.items())
        self._path = path
        self._source = f"{path}?{arguments}"
        for leftover in path.parent.glob("insert-*"):  # of a killed process
            leftover.unlink()
        self._root = self._handle()  # the engine lives as long as it has a handle

    def run(self, statement: Statement) -> Answer:
        """Run one statement. Raises Refused.

        What it sets (database, settings) is gone afterwards: a handle costs a tenth of a millisecond.
        """
        handle = self._handle()
        try:
            if statement.database:
                handle.query("USE `{}`".format(statement.database.replace("`", "``")))
            if statement.settings:
                handle.query(_set_clause(statement.settings))
            sql, rows = _decoded(statement)
            if (insert := read_insert(sql)) is not None:
                return self._insert(handle, insert, sql[insert.rows_at :] + rows)
            return _query(handle, sql + (b"\n" + rows if rows else b""), statement)
        except (RuntimeError, UnicodeDecodeError, DecompressionError) as failure:
            raise Refused(str(failure)) from failure
        finally:
            handle.close()

    def _insert(self, handle: Connection, insert: Insert, rows: bytes) -> Answer:
        # Through a file: the engine's streaming insert says "written" although a constraint, a view
        # or a limit refused the rows.
        at = insert.source_at if insert.source_at >= 0 else len(insert.statement)
        with NamedTemporaryFile(dir=self._path.parent, prefix="insert-") as file:
            file.write(rows)
            file.flush()
            source = f" FROM INFILE {_quoted(file.name)} COMPRESSION 'none' "
            sql = f"{insert.statement[:at]}{source}{insert.statement[at:]} FORMAT {insert.format}"
            done = handle.query(sql)
        return Answer(memoryview(b""), None, rows_written=done.rows_written())

    def _handle(self) -> Connection:
        handle: Connection = chdb.connect(self._source)  # type: ignore[no-untyped-call]  # not annotated
        return handle

    def close(self) -> None:
        """Write out what is pending and let go of the data."""
        self._root.close()


def _query(handle: Connection, sql: bytes, statement: Statement) -> Answer:
    named = trailing_format(sql) or statement.default_format
    # A server tells "no rows" from "no result set" in a header. Here the line of column names does:
    # every result set has one, nothing else has.
    result = handle.query(sql.decode(), named or "TabSeparatedWithNames", params=statement.parameters)
    body = result.get_memview().view()
    read, written = result.rows_read(), result.rows_written()
    if named:
        return Answer(body, named, read, written, owner=result)
    if not body:
        return Answer(body, None, read, written)
    names_end = body.tobytes().index(b"\n") + 1
    return Answer(body[names_end:], "TabSeparated", read, written, owner=result)


def _decoded(statement: Statement) -> tuple[bytes, bytes]:
    """Return the text and the rows without compression."""
    if not statement.is_lz4:
        return statement.sql, statement.rows
    if statement.rows:
        return statement.sql, bytes(lz4.decompress(statement.rows))
    return bytes(lz4.decompress(statement.sql)), b""


def _set_clause(settings: Mapping[str, str]) -> str:
    clauses = []
    for name, value in settings.items():
        if not _SETTING_NAME.fullmatch(name):
            raise Refused("Code: 115. DB::Exception: A setting's name is a word. (UNKNOWN_SETTING)")
        clauses.append(f"{name} = {_quoted(value)}")
    return f"SET {', '.join(clauses)}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
