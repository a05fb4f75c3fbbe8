import asyncio
import gzip
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import aiohttp
import clickhouse_connect
import pyarrow
import pytest
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import DatabaseError
from cramjam import lz4

from connectors.embedded.addresses import Addresses
from tests.connectors.embedded.servers import clickhouse, clickhouse_login

pytestmark = pytest.mark.integration
AT = datetime(2026, 12, 1, 3, 4, 5, 678_000)


@pytest.fixture
def client(stack: Addresses, prefix: str) -> Client:
    """The ordinary client, in a database of its own with a table `t`."""
    clickhouse(stack).command(f"CREATE DATABASE {prefix}")
    client = clickhouse(stack, database=prefix)
    client.command("CREATE TABLE t (a UInt64, b LowCardinality(String)) ENGINE = MergeTree ORDER BY a")
    return client


def test_rows_come_back_as_they_were_inserted(client: Client) -> None:
    """Through the client's default compression, of every kind of column that the schema uses."""
    columns = "id UUID, at DateTime64(3), e Enum8('x' = 1), n Nullable(String), m Map(UInt8, String)"
    client.command(f"CREATE TABLE kinds ({columns}) ENGINE = MergeTree ORDER BY id")
    rows = [(UUID(int=n), AT, "x", None if n % 2 else "বাংলা\t'", {1: "one"}) for n in range(2_000)]
    summary = client.insert("kinds", rows, settings={"async_insert": 0})
    assert summary.written_rows == 2_000
    assert client.query("SELECT * FROM kinds ORDER BY toUInt128(id)").result_rows == rows


def test_an_arrow_table_is_inserted(client: Client) -> None:
    """The form in which batches of delivery events are written."""
    table = pyarrow.table({"a": pyarrow.array(range(50_000), pyarrow.uint64()), "b": ["y"] * 50_000})
    client.insert_arrow("t", table)
    assert client.query("SELECT count(), sum(a), any(b) FROM t").result_rows == [(50_000, 1_249_975_000, "y")]


@pytest.mark.parametrize("compression", [None, "lz4", "gzip"])
def test_raw_rows_are_inserted(client: Client, compression: str | None) -> None:
    """Whatever compression the client chose for them."""
    rows = b'{"a": 1, "b": "x"}\n{"a": 2, "b": "y"}\n'
    sent = {None: rows, "lz4": bytes(lz4.compress(rows)), "gzip": gzip.compress(rows)}[compression]
    client.raw_insert("t", ["a", "b"], sent, fmt="JSONEachRow", compression=compression)
    assert client.query("SELECT a, b FROM t ORDER BY a").result_rows == [(1, "x"), (2, "y")]


def test_parameters_are_values_whatever_is_in_them(client: Client) -> None:
    """Quotes, tabs, backslashes and length change nothing; long ones travel as a form."""
    values = ["it's", "a\tb\\n\n", "x" * 50_000]
    found = client.query(
        "SELECT {v:Array(String)}, {n:Nullable(String)}", parameters={"v": values, "n": None}
    )
    assert found.result_rows == [(values, None)]


@pytest.mark.parametrize(
    "sql,code",
    [("garbage", 62), ("SELECT nope", 47), ("SELECT * FROM nope", 60), ("SELECT throwIf(1)", 395)],
)
def test_a_refusal_carries_the_code(client: Client, sql: str, code: int) -> None:
    """Callers tell errors apart by ClickHouse's own codes."""
    with pytest.raises(DatabaseError) as refusal:
        client.query(sql)
    assert refusal.value.code == code


def test_a_refused_insert_leaves_nothing(client: Client) -> None:
    """A row that cannot be read refuses its whole batch."""
    with pytest.raises(DatabaseError) as refusal:
        client.raw_insert("t", ["a"], b'{"a": 1}\n{"a": "no number"}\n', fmt="JSONEachRow")
    assert refusal.value.code == 27
    assert client.command("SELECT count() FROM t") == 0


def test_an_insert_that_the_table_refuses_is_told(client: Client) -> None:
    """A constraint, a view and a limit refuse rows after they were read: the caller learns it."""
    client.command("CREATE TABLE c (a UInt8, CONSTRAINT low CHECK a < 9) ENGINE = MergeTree ORDER BY a")
    client.command("CREATE MATERIALIZED VIEW cv ENGINE = Memory AS SELECT throwIf(a = 5) FROM c")
    for value, code in ((10, 469), (5, 395)):
        with pytest.raises(DatabaseError) as refusal:
            client.insert("c", [[value]], ["a"])
        assert refusal.value.code == code
    client.command("CREATE TABLE p (a UInt8) ENGINE = MergeTree PARTITION BY a ORDER BY a")
    with pytest.raises(DatabaseError) as refusal:
        client.insert("p", [[n] for n in range(101)], ["a"])
    assert refusal.value.code == 252
    client.raw_insert("p", ["a"], b"1\n", settings={"max_partitions_per_insert_block": 0}, fmt="TSV")
    assert client.command("SELECT count() FROM p") == 1


def test_settings_hold_for_one_statement(client: Client) -> None:
    """What one request sets, the next does not see, though they share a session."""
    ask = "SELECT getSetting('max_threads')"
    before = client.query(ask).result_rows
    assert client.query(ask, settings={"max_threads": 3}).result_rows == [(3,)]
    client.command("SET max_threads = 5")
    assert client.query(ask).result_rows == before
    with pytest.raises(DatabaseError, match="UNKNOWN_SETTING"):
        client.raw_query("SELECT 1", settings={"no_such_setting": 1})


def test_an_empty_result_is_told_from_none(client: Client) -> None:
    """A query without rows gives an empty text, a command gives a summary."""
    assert client.command("SELECT 1 WHERE 0") == ""
    assert not isinstance(client.command("CREATE TABLE e (a UInt8) ENGINE = Memory"), str)
    assert client.query("SELECT 1 AS x LIMIT 0").column_names == ("x",)


@pytest.mark.parametrize("login", [{"password": "wrong"}, {"username": "somebody"}])
def test_callers_without_the_password_are_refused(stack: Addresses, login: dict[str, str]) -> None:
    """Other users of the machine, and pages in a browser, cannot ask."""
    with pytest.raises(DatabaseError) as refusal:
        clickhouse(stack, **login)
    assert refusal.value.code == 516


async def test_a_long_statement_holds_up_nobody_else_s_connection(stack: Addresses) -> None:
    """While one statement runs, others wait for their turn and the server still answers."""
    login = clickhouse_login(stack)
    client = await clickhouse_connect.get_async_client(**login, autogenerate_session_id=False)
    slow = asyncio.create_task(client.query("SELECT sum(sipHash64(number)) FROM numbers(30000000)"))
    queued = [asyncio.create_task(client.query(f"SELECT {number}")) for number in range(8)]
    async with aiohttp.ClientSession() as web:
        ping = await web.get(f"http://{login['host']}:{login['port']}/ping")
        assert await ping.text() == "Ok.\n"
        assert not slow.done()
    answers: list[Any] = [answer.result_rows for answer in await asyncio.gather(*queued)]
    assert answers == [[(number,)] for number in range(8)]
    await slow
    await client.close()


async def test_a_get_changes_nothing(stack: Addresses, prefix: str) -> None:
    """As with a real server, only a POST may change data."""
    url = urlsplit(stack.clickhouse)
    login = {"Authorization": aiohttp.encode_basic_auth(url.username or "", url.password or "")}
    async with aiohttp.ClientSession(f"http://{url.hostname}:{url.port}", headers=login) as web:
        reads = await web.get("/", params={"query": "SELECT 1"})
        assert await reads.text() == "1\n"
        writes = await web.get("/", params={"query": f"CREATE DATABASE {prefix}"})
        assert writes.headers["X-ClickHouse-Exception-Code"] == "164"


def test_times_without_a_zone_are_utc(client: Client) -> None:
    """Wherever the machine is, a stored instant means the same."""
    assert client.command("SELECT timezone()") == "UTC"
    assert (
        client.command("SELECT toUnixTimestamp('2026-12-01 00:00:00')")
        == datetime(2026, 12, 1, tzinfo=UTC).timestamp()
    )
