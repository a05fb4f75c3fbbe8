"""The funnel's answer: any slice, whole, and as of now."""

import random

import pytest

from harkara.questions.funnel import COUNTS, SLICES, UnknownSlice, funnel, refresh
from streams.statuses import Status
from tests.connectors.clickhouse.conftest import Analytics
from tests.connectors.clickhouse.lives import HOUR_MS, START_MS, duplicates, event, lives

pytestmark = pytest.mark.integration


def test_every_slice_adds_up_to_the_total(analytics: Analytics) -> None:
    """By any dimension the rows' counts sum to the total, and each row to its parts."""
    dice = random.Random(3)
    facts = [fact for life in lives(dice, 300) for fact in life.events] + duplicates(dice, 10)
    analytics.writer.write(facts)
    assert refresh(analytics.client, analytics.name)
    for by in [(), *[(name,) for name in SLICES], ("lane", "channel", "hour")]:
        found = funnel(analytics.client, by, database=analytics.name)
        for name in COUNTS:
            if by:
                assert sum(row[name] for row in found.rows) == found.total[name]
        for row in (*found.rows, found.total):
            assert row["accepted"] == sum(row[n] for n in COUNTS if n not in _BESIDE)
    total = funnel(analytics.client, database=analytics.name).total
    assert (total["accepted"], total["duplicates"]) == (300, 10)


#: Accepted itself, parts of sent, and what made no delivery.
_BESIDE = {"accepted", "delivered", "read", "clicked", "bounced", "duplicates"}


def test_latency_and_hours_of_a_slice(analytics: Analytics) -> None:
    """Quantiles are of the slice; `since` takes whole hours; a slice without a send has none."""
    ids = [f"00000000-0000-0000-0000-{n:012d}" for n in range(100)]
    analytics.writer.write(
        [
            event(Status.SENT, START_MS + 10 * (n + 1), delivery_id=one, attempt=1, lane="critical")
            for n, one in enumerate(ids)
        ]
    )
    analytics.writer.write(
        [event(Status.QUEUED, START_MS + HOUR_MS, cohort_at_ms=START_MS + HOUR_MS, delivery_id="d" * 32)]
    )
    refresh(analytics.client, analytics.name)
    critical, waiting = funnel(analytics.client, ("lane",), database=analytics.name).rows
    assert critical["sent_p50_ms"] == pytest.approx(500, abs=10)
    assert critical["sent_p99_ms"] == pytest.approx(990, abs=10)
    assert (waiting["lane"], waiting["sent_p99_ms"]) == ("transactional", None)
    later = funnel(analytics.client, ("hour",), START_MS + HOUR_MS + 5, analytics.name)
    assert [row["accepted"] for row in later.rows] == [1]
    assert later.rows[0]["hour"] == "2026-12-01T01:00:00Z"


def test_nothing_yet(analytics: Analytics) -> None:
    """An empty funnel is zeros, not an error."""
    found = funnel(analytics.client, database=analytics.name)
    assert (found.rows, found.total["accepted"], found.counted_at_ms) == ([], 0, None)


def test_an_unknown_slice_names_the_known(analytics: Analytics) -> None:
    """A wrong dimension is told with those that there are, and never reaches ClickHouse."""
    with pytest.raises(UnknownSlice, match="lane"):
        funnel(analytics.client, ("user_id",), database=analytics.name)
