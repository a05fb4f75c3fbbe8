"""The writer: poison is found and handed back, everything else is stored."""

import pytest

from connectors.clickhouse.client import INSERTING, Away, connect
from connectors.clickhouse.writer import Refused, TooManyRefused, Writer
from streams.records.delivery_event import DeliveryEvent
from streams.statuses import Status
from tests.connectors.clickhouse.conftest import HASH_KEY, Analytics
from tests.connectors.clickhouse.lives import DAY, START_MS, event

pytestmark = pytest.mark.integration


def batch(count: int, bad: dict[int, DeliveryEvent]) -> list[DeliveryEvent]:
    """Return good events with some replaced."""
    return [
        bad.get(n) or event(Status.QUEUED, delivery_id=f"00000000-0000-0000-0000-{n:012d}")
        for n in range(count)
    ]


def test_rows_that_clickhouse_refuses_are_found(analytics: Analytics) -> None:
    """Times in a wrong unit break a constraint: these rows come back, all others are stored (ANA-06)."""
    seconds, micros = START_MS // 1_000, START_MS * 1_000
    bad = {17: event(Status.SENT, seconds), 90: event(Status.SENT, cohort_at_ms=seconds)}
    assert analytics.writer.write(batch(100, bad | {99: event(Status.SENT, micros)})) == [
        Refused(17, "VIOLATED_CONSTRAINT"),
        Refused(90, "VIOLATED_CONSTRAINT"),
        Refused(99, "VIOLATED_CONSTRAINT"),
    ]
    assert analytics.rows("SELECT count() FROM db.v_timeline") == [(97,)]


@pytest.mark.parametrize(
    "fields", [{"attempt": 300}, {"seq": -1}, {"cost_micros": 1 << 70}, {"until_ms": 1 << 64}]
)
def test_values_outside_their_column_are_refused(analytics: Analytics, fields: dict[str, int]) -> None:
    """A value that no column holds never reaches ClickHouse, and holds up nobody."""
    refused = analytics.writer.write(batch(5, {3: event(Status.QUEUED, **fields)}))
    assert [one.place for one in refused] == [3]
    assert analytics.rows("SELECT count() FROM db.v_timeline") == [(4,)]


def test_event_time_far_from_admission_is_kept(analytics: Analytics) -> None:
    """A receipt 40 days late is stored, in the day of its admission (ANA-06)."""
    analytics.writer.write([event(Status.READ, START_MS + 40 * DAY)])
    assert analytics.rows("SELECT toString(_partition_id) FROM db.delivery_event") == [("20261201",)]


def test_too_many_refused_is_not_the_rows_fault(analytics: Analytics) -> None:
    """More than one per cent refused stops the writer instead of emptying the topic."""
    bad = {n: event(Status.SENT, 1) for n in range(50)}
    with pytest.raises(TooManyRefused, match="VIOLATED_CONSTRAINT"):
        analytics.writer.write(batch(100, bad))


def test_missing_table_is_waited_for(clickhouse_url: str) -> None:
    """Before the schema is applied no row is blamed."""
    writer = Writer(lambda: connect(clickhouse_url, INSERTING), HASH_KEY, "harkara_nowhere")
    with pytest.raises(Away, match="UNKNOWN_DATABASE"):
        writer.write([event(Status.QUEUED)])


def test_nobody_listens(caplog: pytest.LogCaptureFixture) -> None:
    """A server that is away is told once, by the error, without the password of its address."""
    with pytest.raises(Away) as told:
        connect("http://user:geheim@127.0.0.1:1")
    assert "geheim" not in str(told.value)
    assert caplog.records == []


def test_writes_again_after_the_server_came_back(analytics: Analytics, clickhouse_url: str) -> None:
    """After an error the writer makes a new connection by itself."""
    urls = iter(["http://127.0.0.1:1", clickhouse_url])
    writer = Writer(lambda: connect(next(urls), INSERTING), HASH_KEY, analytics.name)
    with pytest.raises(Away):
        writer.write([event(Status.QUEUED)])
    assert writer.write([event(Status.QUEUED)]) == []
    writer.close()


def test_error_names_quote_no_data(analytics: Analytics) -> None:
    """What comes back about a refused row is a name, never a value of the row."""
    refused = analytics.writer.write([event(Status.SENT, 1, user_id="canary@example.com")])
    assert "canary" not in repr(refused)
