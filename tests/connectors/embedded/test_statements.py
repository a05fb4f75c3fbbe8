import pytest

from connectors.embedded.statements import Insert, read_insert, trailing_format


@pytest.mark.parametrize(
    "sql,statement,rows",
    [
        (b"INSERT INTO t (a, b) FORMAT Native\n\x00\x01", "INSERT INTO t (a, b) ", b"\x00\x01"),
        (b"insert into t format JSONEachRow {}", "insert into t ", b"{}"),
        (b"INSERT INTO `FORMAT x` FORMAT CSV\r\n1\n", "INSERT INTO `FORMAT x` ", b"1\n"),
        (b"INSERT INTO t (format, `values`) FORMAT CSV\n1", "INSERT INTO t (format, `values`) ", b"1"),
        (
            b"-- SELECT\n/* VALUES */ INSERT INTO t FORMAT CSV\n",
            "-- SELECT\n/* VALUES */ INSERT INTO t ",
            b"",
        ),
        (
            b"INSERT INTO t SETTINGS async_insert=0 FORMAT TSV\n\n",
            "INSERT INTO t SETTINGS async_insert=0 ",
            b"\n",
        ),
        (b"INSERT INTO t FORMAT CSV\n'FORMAT y", "INSERT INTO t ", b"'FORMAT y"),
    ],
)
def test_an_insert_is_parted_from_its_rows(sql: bytes, statement: str, rows: bytes) -> None:
    """Quotes, comments, column lists and the rows themselves do not mislead."""
    insert = read_insert(sql)
    assert insert is not None
    assert insert.statement == statement
    assert sql[insert.rows_at :] == rows


@pytest.mark.parametrize(
    "sql",
    [
        b"SELECT 1 FORMAT JSON",
        b"INSERT INTO t VALUES (1)",
        b"INSERT INTO t SELECT 1",
        b"INSERT INTO t WITH 1 AS x SELECT x FORMAT Null",
        b"INSERT INTO t (a)",
        b"INSERT INTO t FORMAT",
        b"",
    ],
)
def test_what_brings_no_formatted_rows_is_no_insert(sql: bytes) -> None:
    """Such a statement goes to the engine whole."""
    assert read_insert(sql) is None


def test_place_of_another_source_is_before_the_settings() -> None:
    """A file of rows is named between the columns and the settings."""
    insert = read_insert(b"INSERT INTO t (settings) SETTINGS a=1 FORMAT TSV\n")
    assert insert is not None
    assert insert.statement[insert.source_at :] == "SETTINGS a=1 "


def test_format_name_is_read() -> None:
    """The name of the format is given as written."""
    assert read_insert(b"INSERT INTO t FORMAT Parquet PAR1") == Insert("INSERT INTO t ", "Parquet", 29)


@pytest.mark.parametrize(
    "sql,name",
    [
        (b"SELECT 1", None),
        (b"SELECT 'FORMAT JSON'", None),
        (b"SELECT 1 format Native ;\n", "Native"),
        (b"SELECT 1 FORMAT JSON SETTINGS max_threads = 1", "JSON"),
        (b"SELECT format FROM t", None),
    ],
)
def test_an_output_format_is_found_at_the_end_only(sql: bytes, name: str | None) -> None:
    """Text that merely looks like a clause is no clause."""
    assert trailing_format(sql) == name
