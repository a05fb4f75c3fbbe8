"""Traps of ClickHouse under at-least-once delivery, each met and survived."""

import re
import threading

import pytest
from msgspec.structs import replace

from connectors.clickhouse.client import INSERTING, connect
from connectors.clickhouse.migrations import migrations
from streams.statuses import Status
from tests.connectors.clickhouse.conftest import Analytics
from tests.connectors.clickhouse.lives import HOUR_MS, START_MS, event

pytestmark = pytest.mark.integration

DAY_MS = 24 * HOUR_MS
FUNNEL = "SELECT sum(accepted), sum(pending), sum(sent) FROM db.v_funnel"
STATEMENTS = {m.name: "\n".join(m.statements) for m in migrations()}
#: Aggregates for which the same input again changes nothing.
IDEMPOTENT = {"min", "max", "groupBitOr", "groupUniqArrayArray"}


def ids(count: int) -> list[str]:
    """Return distinct delivery ids."""
    return [f"00000000-0000-0000-0000-{n:012d}" for n in range(count)]


def test_one_row_139_times_counts_once(analytics: Analytics) -> None:
    """Repeats in different blocks count once, before and after a merge (ANA-01)."""
    sent = event(Status.SENT, attempt=1, provider="fcm")
    for n in range(35):
        other = event(Status.QUEUED, delivery_id=ids(40)[n + 2])
        analytics.writer.write([*[sent] * (3 if n == 0 else 4), other])
    analytics.refresh()
    before = analytics.rows(FUNNEL)
    analytics.client.command(f"OPTIMIZE TABLE {analytics.name}.delivery_event FINAL")
    analytics.client.command(f"OPTIMIZE TABLE {analytics.name}.delivery_state FINAL")
    analytics.refresh()
    assert before == analytics.rows(FUNNEL) == [(36, 35, 1)]


def test_retry_with_other_boundaries(analytics: Analytics) -> None:
    """A batch that is cut otherwise on its second try leaks no row."""
    events = [event(Status.QUEUED, delivery_id=one) for one in ids(10)]
    analytics.writer.write(events)
    analytics.writer.write(events[:3])
    analytics.writer.write(events[3:])
    analytics.refresh()
    assert analytics.rows(FUNNEL) == [(10, 10, 0)]


def test_identical_block_again(analytics: Analytics) -> None:
    """A block that is retried as it is doubles neither the table nor what hangs on it."""
    events = [
        event(Status.SENT, delivery_id=one, attempt=1, cost_micros=5, currency="USD") for one in ids(10)
    ]
    for _ in range(3):
        analytics.writer.write(events)
    assert analytics.rows("SELECT sum(messages), sum(cost_micros) FROM db.v_cost") == [(10, 50)]
    assert analytics.rows("SELECT count() FROM db.v_delivery") == [(10,)]


def test_transitions_are_not_counted(analytics: Analytics) -> None:
    """A thousand deliveries that passed three statuses are a thousand, in their last one."""
    for status in (Status.QUEUED, Status.SENDING, Status.SENT):
        analytics.writer.write([event(status, delivery_id=one, attempt=1) for one in ids(1_000)])
    found = analytics.rows("SELECT toString(status), count() FROM db.v_delivery GROUP BY status")
    assert found == [("sent", 1_000)]


def test_insert_views_hold_only_idempotent_aggregates() -> None:
    """No count or sum in a view that an insert triggers, and none reads the state it fills."""
    for text in STATEMENTS.values():
        for view in re.findall(r"CREATE MATERIALIZED VIEW IF NOT EXISTS \S+ TO [^;]*", text):
            assert "FROM harkara.delivery_event AS e" in view
            called = set(re.findall(r"\b(\w+)\(", view.partition("GROUP BY")[0]))
            aggregates = {name for name in called if re.match(r"(sum|count|avg|quantile|any|uniq|arg)", name)}
            assert aggregates == set()
            assert called & IDEMPOTENT


def test_a_late_event_recounts_its_hour_whole(analytics: Analytics) -> None:
    """One event into an hour of a thousand leaves the other 999 counted."""
    analytics.writer.write([event(Status.QUEUED, delivery_id=one) for one in ids(1_000)])
    analytics.refresh()
    analytics.writer.write([event(Status.SENT, delivery_id=ids(1)[0], attempt=1, provider="fcm")])
    analytics.refresh()
    assert analytics.rows(FUNNEL) == [(1_000, 999, 1)]


def test_a_key_that_goes_leaves_nothing_stale(analytics: Analytics) -> None:
    """A delivery without a provider that gets one is not counted under both."""
    analytics.writer.write([event(Status.QUEUED)])
    analytics.refresh()
    analytics.writer.write([event(Status.SENT, attempt=1, provider="fcm")])
    analytics.refresh()
    found = analytics.rows("SELECT provider, accepted, sent FROM db.v_funnel")
    assert found == [("fcm", 1, 1)]


def test_more_than_a_hundred_days_in_one_batch(analytics: Analytics) -> None:
    """A replay that touches 110 days is one insert."""
    events = [
        event(Status.QUEUED, cohort_at_ms=START_MS - n * DAY_MS, delivery_id=one)
        for n, one in enumerate(ids(110))
    ]
    assert analytics.writer.write(events) == []
    analytics.refresh()
    assert analytics.rows(FUNNEL) == [(110, 110, 0)]


def test_no_projections_so_rows_can_be_deleted(analytics: Analytics) -> None:
    """A lightweight delete works: nothing in the schema forbids it."""
    assert not any("PROJECTION" in text for text in STATEMENTS.values())
    analytics.writer.write([event(Status.QUEUED)])
    analytics.client.command(f"DELETE FROM {analytics.name}.delivery_event WHERE user_hash != 0")
    assert analytics.rows("SELECT count() FROM db.v_timeline") == [(0,)]


def test_time_order_never_rests_on_ids() -> None:
    """In the sort key the hour comes before the id: ClickHouse does not sort UUIDs by time."""
    key = re.search(r"ORDER BY \((.*)\)", STATEMENTS["001_delivery_event"])
    assert key is not None
    assert key[1].index("toStartOfHour(cohort_at)") < key[1].index("delivery_id")


def test_a_stack_that_was_down_catches_up(analytics: Analytics) -> None:
    """What was written while nothing was counted is counted by the first refresh, and once."""
    analytics.writer.write([event(Status.QUEUED)])
    analytics.refresh()
    analytics.client.command(f"SYSTEM STOP VIEW {analytics.name}.funnel_hour_rmv")
    # The hours were touched before and after the last count, which was long ago.
    for table, column in (("touched_hour", "touched_at"), ("funnel_hour", "refreshed_at")):
        analytics.client.command(f"CREATE TABLE {analytics.name}.kept AS {analytics.name}.{table}")
        analytics.client.command(
            f"INSERT INTO {analytics.name}.kept SELECT * REPLACE ({column} - INTERVAL 3 DAY AS {column})"
            f" FROM {analytics.name}.{table}"
        )
        analytics.client.command(f"EXCHANGE TABLES {analytics.name}.kept AND {analytics.name}.{table}")
        analytics.client.command(f"DROP TABLE {analytics.name}.kept SYNC")
    for hour in range(3):
        analytics.writer.write(
            [event(Status.QUEUED, cohort_at_ms=START_MS + hour * HOUR_MS, delivery_id=ids(9)[hour + 2])]
        )
    analytics.client.command(f"SYSTEM START VIEW {analytics.name}.funnel_hour_rmv")
    for _ in range(3):
        analytics.refresh()
        assert analytics.rows(FUNNEL) == [(4, 4, 0)]


def test_inserts_are_synchronous_whatever_the_server_prefers(analytics: Analytics) -> None:
    """The settings that decide about loss and repeats are pinned on every request."""
    names = ", ".join(f"'{name}'" for name in INSERTING)
    found = analytics.rows(f"SELECT name, toInt64(value) FROM system.settings WHERE name IN ({names})")
    assert dict(found) == dict(INSERTING)


def test_clients_do_not_wait_for_each_other(clickhouse_url: str) -> None:
    """Several clients ask at once without sharing a session."""
    answers: list[object] = []

    def ask() -> None:
        client = connect(clickhouse_url)
        answers.append(client.query("SELECT sleep(0.05)").result_rows)
        client.close()

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 4


def test_two_deferrals_of_one_attempt_both_stand(analytics: Analytics) -> None:
    """`seq` keeps them apart, and the present one is the later."""
    first = event(Status.DEFERRED, attempt=1, seq=1, until_ms=START_MS + 1, reason="quiet_hours")
    later = replace(first, seq=2, occurred_at_ms=START_MS + 5, until_ms=START_MS + 9, reason="suspended")
    analytics.writer.write([later, first])
    assert analytics.rows("SELECT count() FROM db.v_timeline") == [(2,)]
    query = "SELECT reason, toUnixTimestamp64Milli(until_at) FROM db.v_delivery"
    assert analytics.rows(query) == [("suspended", START_MS + 9)]


def test_the_earliest_of_repeated_receipts_stands(analytics: Analytics) -> None:
    """A receipt that is told again later changes no time."""
    for at in (500, 300, 900):
        analytics.writer.write([event(Status.DELIVERED, START_MS + at)])
    assert analytics.rows("SELECT toUnixTimestamp64Milli(occurred_at) FROM db.v_timeline") == [
        (START_MS + 300,)
    ]
    query = "SELECT delivered_ms, toUnixTimestamp64Milli(changed_at) FROM db.v_delivery"
    assert analytics.rows(query) == [(300, START_MS + 300)]
