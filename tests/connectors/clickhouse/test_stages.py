"""One vocabulary: our statuses, their analytics names, and which fact of a delivery holds."""

import random
import re
from pathlib import Path

import pytest

from connectors.clickhouse.migrations import migrations
from connectors.clickhouse.rows import delivery_uuid
from connectors.clickhouse.stages import RANKS, STAGES, Standing, standing
from streams.statuses import FINAL, Status
from tests.connectors.clickhouse.conftest import Analytics
from tests.connectors.clickhouse.lives import START_MS, event

DOCS = Path(__file__).parents[3] / "docs" / "analytics.md"


def test_every_status_has_a_stage() -> None:
    """The mapping covers `streams.statuses`, one to one, in steps of five."""
    assert set(STAGES) == set(Status)
    assert len({stage.name for stage in STAGES.values()}) == len(Status)
    assert sorted(RANKS.values()) == sorted(set(RANKS.values()))
    assert all(rank % 5 == 0 for rank in RANKS.values())


def test_the_table_knows_the_same_stages() -> None:
    """The column `stage` has the names and ranks of the mapping."""
    text = migrations()[0].statements[1]
    declared = re.search(r"stage\s+Enum8\((.*?)\)", text)
    assert declared is not None
    found = {name: int(rank) for name, rank in re.findall(r"'(\w+)' = (\d+)", declared[1])}
    assert found == {stage.name: stage.rank for stage in STAGES.values()}


def test_the_documentation_shows_the_mapping() -> None:
    """docs/analytics.md lists each status with its stage and rank."""
    found = set(re.findall(r"^\| `(\w+)` \| `(\w+)` \| (\d+) \|", DOCS.read_text("utf-8"), re.MULTILINE))
    assert found == {(str(status), stage.name, str(stage.rank)) for status, stage in STAGES.items()}


def test_settled_outranks_open_and_sent_outranks_unsent() -> None:
    """Whatever attempt or time: final beats open, and what was sent was sent."""
    open_ones = set(Status) - FINAL - {Status.DUPLICATE} | {Status.UNKNOWN}
    sent = {Status.SENT, Status.BOUNCED, Status.DELIVERED, Status.READ, Status.CLICKED}
    for final in FINAL - {Status.UNKNOWN}:
        for open_one in open_ones:
            assert standing(final, "sms", 1, 1) > standing(open_one, "sms", 200, 1 << 41)
        if final not in sent:
            assert all(standing(one, "sms", 1, 1 << 41) > standing(final, "sms", 9, 1) for one in sent)


@pytest.mark.parametrize(
    "channel, first, second, holds",
    [
        ("sms", Status.BOUNCED, Status.DELIVERED, Status.DELIVERED),
        ("email", Status.BOUNCED, Status.DELIVERED, Status.BOUNCED),
        ("email", Status.BOUNCED, Status.READ, Status.READ),
        ("sms", Status.FAILED, Status.DELIVERED, Status.DELIVERED),
        ("push", Status.DELIVERED, Status.SENT, Status.DELIVERED),
    ],
)
def test_receipts_against_each_other(channel: str, first: Status, second: Status, holds: Status) -> None:
    """A late arrival beats a failure, but on e-mail a bounce beats an acceptance (R-213, R-223)."""
    facts = [standing(first, channel, 1, START_MS), standing(second, channel, 1, START_MS + 1)]
    assert max(facts).status is max(reversed(facts)).status is holds


def test_an_unknown_that_is_tried_again_is_open() -> None:
    """It holds until a later attempt begins, even against a skewed clock of the same attempt."""
    unknown = standing(Status.UNKNOWN, "sms", 1, START_MS)
    assert unknown > standing(Status.QUEUED, "sms", 1, START_MS + 5_000)
    assert unknown < standing(Status.DEFERRED, "sms", 2, START_MS - 5_000)


def test_a_duplicates_id_is_derived() -> None:
    """Coordinates give the same UUID each time; a UUID stays itself."""
    assert delivery_uuid("harkara.ingest.bulk/0/7") == delivery_uuid("harkara.ingest.bulk/0/7")
    assert delivery_uuid("harkara.ingest.bulk/0/7") != delivery_uuid("harkara.ingest.bulk/0/8")
    own = "6f1d0c1e-52a7-5b0e-9d5e-0f2a6b7c8d90"
    assert str(delivery_uuid(own)) == own


@pytest.mark.integration
def test_sql_and_python_agree_on_what_holds(analytics: Analytics) -> None:
    """Any facts in any order: the view shows the greatest standing."""
    dice = random.Random(5)
    facts = [
        event(
            dice.choice([status for status in Status if status is not Status.DUPLICATE]),
            START_MS + dice.randrange(1_000),
            delivery_id=f"00000000-0000-0000-0000-{n % 500:012d}",
            attempt=dice.randrange(4),
            seq=n,
            channel=["sms", "email"][n % 2],
        )
        for n in range(3_000)
    ]
    for start in range(0, len(facts), 600):
        analytics.writer.write(facts[start : start + 600])
    wanted: dict[str, Standing] = {}
    for fact in facts:
        mine = standing(fact.status, fact.channel, fact.attempt, fact.occurred_at_ms)
        wanted[fact.delivery_id] = max(mine, wanted.get(fact.delivery_id, mine))
    found = dict(analytics.rows("SELECT toString(delivery_id), toString(status) FROM db.v_delivery"))
    assert found == {one: str(mine.status) for one, mine in wanted.items()}
