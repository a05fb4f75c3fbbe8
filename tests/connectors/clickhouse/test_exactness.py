"""Every figure equals the truth, after repeats, in any order, replayed, and with late receipts."""

import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass

import pytest
from msgspec.structs import replace

from streams.ids import address_hash
from streams.records.delivery_event import DeliveryEvent
from streams.statuses import Status
from tests.connectors.clickhouse.conftest import HASH_KEY, Analytics
from tests.connectors.clickhouse.lives import COUNTED, HOUR_MS, START_MS, Life, duplicates, lives

pytestmark = pytest.mark.integration

Made = Callable[[], AbstractContextManager[Analytics]]
SUMS = ", ".join(f"sum({column}) AS {column}" for column in ("accepted", *COUNTED))


def truth(all_lives: list[Life], by: Callable[[DeliveryEvent], object]) -> dict[object, tuple[int, ...]]:
    """Count the lives by what is true of them."""
    counts: dict[object, Counter[str]] = {}
    for life in all_lives:
        counts.setdefault(by(life.events[0]), Counter()).update(["accepted", *life.columns])
    return {key: tuple(count[c] for c in ("accepted", *COUNTED)) for key, count in counts.items()}


@dataclass
class Told:
    """Lives, and the database they were told to."""

    lives: list[Life]
    analytics: Analytics


@pytest.fixture(scope="module")
def story(fresh: Made) -> Iterator[Told]:
    """Lives written with 5 % repeats, shuffled, in odd batches, and twice in full with other batches."""
    dice = random.Random(20)
    all_lives = list(lives(dice, 3_000))
    events = [e for life in all_lives for e in life.events] + duplicates(dice, 200)
    sent = events + dice.sample(events, len(events) // 20)
    with fresh() as analytics:
        for size in (1_700, 4_111):
            dice.shuffle(sent)
            for start in range(0, len(sent), size):
                assert analytics.writer.write(sent[start : start + size]) == []
        analytics.refresh()
        yield Told(all_lives, analytics)


def test_funnel_is_exact_for_any_slice(story: Told) -> None:
    """By lane, by channel, by hour and altogether: each delivery counts once, where it stands."""
    slices: dict[str, Callable[[DeliveryEvent], object]] = {
        "lane": lambda e: e.lane,
        "channel": lambda e: e.channel,
        "campaign_id": lambda e: e.campaign_id,
        "toUInt32(intDiv(toUnixTimestamp(hour), 3600))": lambda e: e.cohort_at_ms // HOUR_MS,
    }
    for column, by in slices.items():
        found = story.analytics.rows(
            f"SELECT {column} AS slice, {SUMS} FROM db.v_funnel GROUP BY slice HAVING accepted > 0"
        )
        assert {row[0]: row[1:] for row in found} == truth(story.lives, by)
    assert story.analytics.rows("SELECT sum(duplicates) FROM db.v_funnel") == [(200,)]


def test_accepted_is_the_sum_of_its_parts(story: Told) -> None:
    """In every single row: accepted = pending + sent + failed + … + unknown."""
    assert story.analytics.rows(
        "SELECT count() FROM db.v_funnel WHERE accepted != pending + sent + failed + expired + suppressed"
        " + cancelled + merged + unknown OR delivered > sent OR read > delivered OR clicked > read"
        " OR bounced > sent"
    ) == [(0,)]


def test_state_of_each_delivery_is_exact(story: Told) -> None:
    """Every single delivery stands where its life ended, whatever order its facts came in."""
    found = dict(story.analytics.rows("SELECT toString(delivery_id), toString(status) FROM db.v_delivery"))
    wanted = {life.events[0].delivery_id: str(life.ends) for life in story.lives}
    assert found == wanted


def test_cost_is_exact_by_currency(story: Told) -> None:
    """Costs are summed per attempt, each once, and never across currencies."""
    wanted: Counter[str] = Counter()
    for life in story.lives:
        for fact in life.events:
            if fact.status is Status.SENT:
                wanted[fact.currency] += life.cost
    found = story.analytics.rows("SELECT currency, sum(cost_micros) FROM db.v_cost GROUP BY currency")
    assert dict(found) == dict(wanted)
    assert len(found) == 3


def test_latency_is_exact(story: Told) -> None:
    """The slowest and the count of sent deliveries equal the truth, in milliseconds."""
    sent = {
        life.events[0].delivery_id: fact.occurred_at_ms - fact.cohort_at_ms
        for life in story.lives
        for fact in life.events
        if fact.status is Status.SENT
    }
    assert story.analytics.rows("SELECT sum(sent), max(sent_max_ms) FROM db.v_latency") == [
        (len(sent), max(sent.values()))
    ]


def test_reasons_cover_everything_not_sent(story: Told) -> None:
    """Every delivery that was not sent, or not yet, is there with a reason."""
    not_sent = sum("sent" not in life.columns or "bounced" in life.columns for life in story.lives)
    assert story.analytics.rows("SELECT sum(deliveries), countIf(reason = '') FROM db.v_reasons") == [
        (not_sent, 0)
    ]


def test_health_counts_each_attempt_once(story: Told) -> None:
    """Calls of a provider = its attempts in the lives, and each has one outcome."""
    ended = (Status.SENT, Status.FAILED, Status.SENDING, Status.UNKNOWN)
    calls = sum(fact.status in ended for life in story.lives for fact in life.events)
    query = "SELECT sum(calls), sum(sent + refused + retried + unknown) FROM db.v_provider_health"
    assert story.analytics.rows(query) == [(calls, calls)]


def test_timeline_tells_a_life_once_and_in_order(story: Told) -> None:
    """One delivery's facts, each once, with our names; two deferrals of one attempt both stand."""
    life = max(story.lives, key=lambda one: len(one.events))
    found = story.analytics.rows(
        "SELECT toString(status), attempt, toUnixTimestamp64Milli(occurred_at), user_hash FROM db.v_timeline"
        f" WHERE delivery_id = '{life.events[0].delivery_id}' ORDER BY occurred_at"
    )
    facts = {(e.status, e.attempt, e.seq): e for e in reversed(life.events)}  # of repeated receipts the first
    user = address_hash(HASH_KEY, life.events[0].user_id)
    assert found == [
        (str(e.status), e.attempt, e.occurred_at_ms, user)
        for e in sorted(facts.values(), key=lambda e: e.occurred_at_ms)
    ]


def test_nothing_personal_is_stored(story: Told) -> None:
    """No column of any table holds a user id (SEC-02)."""
    columns = story.analytics.client.query(
        "SELECT table, name FROM system.columns WHERE database = {db:String}"
        " AND table IN ('delivery_event', 'delivery_state', 'funnel_hour') AND name != 'sent_latency'",
        {"db": story.analytics.name},
    ).result_rows
    for table, column in columns:
        query = f"SELECT count() FROM db.{table} WHERE position(toString({column}), 'user-') > 0"
        assert story.analytics.rows(query) == [(0,)], column


def test_late_receipts_reach_an_old_hour(analytics: Analytics) -> None:
    """A receipt that comes days later moves its delivery in the hour of its admission."""
    sums = "SELECT sum(accepted), sum(sent), sum(read) FROM db.v_funnel"
    life = next(one for one in lives(random.Random(1), 500) if one.ends is Status.SENT)
    analytics.writer.write(life.events)
    analytics.refresh()
    assert analytics.rows(sums) == [(1, 1, 0)]
    receipt = replace(life.events[-1], status=Status.READ, occurred_at_ms=START_MS + 72 * HOUR_MS)
    analytics.writer.write([receipt])
    analytics.refresh()
    assert analytics.rows(sums) == [(1, 1, 1)]
