"""Questions in SQL, and nothing but questions."""

import pytest

from harkara.questions.asking import Unanswered, answering
from harkara.questions.sql import NoQuestion, as_csv, ask
from streams.statuses import Status
from tests.connectors.clickhouse.conftest import Analytics
from tests.connectors.clickhouse.lives import event

pytestmark = pytest.mark.integration


def test_values_are_plain(analytics: Analytics, clickhouse_url: str) -> None:
    """Times and ids come as text that any JSON reader takes."""
    analytics.writer.write([event(Status.SENT, attempt=1)])
    columns = "delivery_id, occurred_at, toDate(occurred_at) AS day, [1, 2] AS n"
    sql = f"SELECT {columns} FROM {analytics.name}.v_timeline;"
    with answering(clickhouse_url) as client:
        found = ask(client, sql)
        assert found.columns == ("delivery_id", "occurred_at", "day", "n")
        own = "00000000-0000-0000-0000-000000000001"
        assert found.rows == [(own, "2026-12-01T00:00:00+00:00", "2026-12-01", [1, 2])]
        assert as_csv(client, "SELECT 1 AS a, 'x' AS b") == '"a","b"\n1,"x"\n'


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TABLE {db}.delivery_event",
        "INSERT INTO {db}.touched_hour (hour) VALUES (0)",
        "WITH x AS (SELECT toDateTime(0) AS hour) INSERT INTO {db}.touched_hour (hour) SELECT hour FROM x",
        "CREATE TABLE {db}.t (a UInt8) ENGINE = Memory",
        "ALTER TABLE {db}.delivery_event DELETE WHERE 1",
        "TRUNCATE TABLE {db}.delivery_event",
        "SYSTEM REFRESH VIEW {db}.funnel_hour_rmv",
        "SET readonly = 0",
        "INSERT INTO FUNCTION file('stolen.csv') SELECT 1",
    ],
)
def test_what_would_change_something_is_refused(
    analytics: Analytics, clickhouse_url: str, statement: str
) -> None:
    """The server itself refuses it, however it is written."""
    with pytest.raises((Unanswered, NoQuestion)), answering(clickhouse_url) as client:
        ask(client, statement.format(db=analytics.name))
    assert analytics.rows("SELECT count() FROM db.touched_hour") == [(0,)]


@pytest.mark.parametrize("statement", ["SHOW DATABASES", "DESCRIBE {db}.v_funnel", "EXPLAIN SELECT 1"])
def test_what_only_tells_is_answered(analytics: Analytics, clickhouse_url: str, statement: str) -> None:
    """Not only SELECT is a question."""
    with answering(clickhouse_url) as client:
        assert ask(client, statement.format(db=analytics.name)).rows


def test_errors_are_clickhouses_own_words(clickhouse_url: str) -> None:
    """A mistake is told in one line with its code."""
    with (
        pytest.raises(Unanswered, match=r"ClickHouse \(60\).*nowhere") as told,
        answering(clickhouse_url) as client,
    ):
        ask(client, "SELECT * FROM nowhere")
    assert "\n" not in str(told.value)
