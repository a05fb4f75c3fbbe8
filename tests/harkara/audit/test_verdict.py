"""Comparing witnesses made by hand, and looking again."""

from connectors.clickhouse.stages import Standing, standing
from harkara.audit.audit import LOOKS, audit
from harkara.audit.feed import Feed
from harkara.audit.places import coordinate, origin, shown, unpacked
from harkara.audit.sources import Sources
from harkara.audit.state import State
from harkara.audit.stored import InClickHouse
from harkara.audit.verdict import LAW, Witnesses, compare
from streams.statuses import FINAL, Status

SOURCE = coordinate(1, 0, 7)


def facts(**statuses: Status) -> dict[str, Standing]:
    """Return standings by delivery."""
    return {name: standing(status, "push", 1, 1) for name, status in statuses.items()}


def witnesses(
    stored: dict[str, Standing], told: dict[str, Standing] | None = None, state: State | None = None
) -> Witnesses:
    """Return what three witnesses say of deliveries of one event."""
    told = stored if told is None else told
    state = state or State(claimed=set(stored), admitted={SOURCE}, first_results={b"row"})
    return Witnesses(
        0,
        True,
        Sources(rows={SOURCE: b"row"}),
        Feed(told, dict.fromkeys(told, SOURCE)),
        state,
        InClickHouse(stored, dict.fromkeys(stored, SOURCE)),
    )


def test_each_status_is_one_part_of_the_law() -> None:
    """Every settled status counts once, and accepted is the sum."""
    settled = [status for status in Status if status in FINAL]
    verdict = compare(witnesses(facts(**{f"d{n}": status for n, status in enumerate(settled)})))
    assert verdict.findings == []
    assert verdict.adds_up
    assert verdict.counts["accepted"] == len(settled)
    assert verdict.counts["sent"] == 5
    assert sum(verdict.counts[part] for part in LAW) == len(settled)


def test_unknown_is_pending_while_somebody_holds_it() -> None:
    """What will be tried again is not given up."""
    held = State(admitted={SOURCE}, first_results={b"row"}, waiting={"d": SOURCE})
    assert compare(witnesses(facts(d=Status.UNKNOWN), state=held)).counts["pending"] == 1
    assert compare(witnesses(facts(d=Status.UNKNOWN))).counts["unknown"] == 1


def test_what_moves_between_two_looks_is_no_finding() -> None:
    """A delivery that fits at the second look held at the first; nothing is lost."""
    moving, arrived = witnesses(facts(d=Status.QUEUED)), witnesses(facts(d=Status.SENT))
    looks = iter([moving, arrived])
    report = audit(lambda: next(looks), pause=lambda _: None)
    assert (report.holds, report.looks, report.lost) == (True, 2, 0)


def test_another_delivery_at_each_look_is_moving() -> None:
    """In a busy system each look catches others: they count as pending, and the law adds up."""
    looks = iter(witnesses(facts(**{f"d{n}": Status.QUEUED, "x": Status.SENT})) for n in range(LOOKS))
    report = audit(lambda: next(looks), pause=lambda _: None)
    assert (report.holds, report.lost) == (True, 0)
    assert (report.accepted, report.parts["sent"], report.pending["moving"]) == (2, 1, 1)


def test_what_stays_is_a_finding() -> None:
    """The same defect at every look makes it fail."""
    stuck = witnesses(facts(d=Status.QUEUED))
    report = audit(lambda: stuck, pause=lambda _: None)
    assert (report.holds, report.lost, report.looks) == (False, 1, LOOKS)
    assert report.differences == {"lost_delivery": 1}


def test_a_shortened_feed_is_no_difference() -> None:
    """When Kafka deleted old events, ClickHouse may know more, never less."""
    whole = witnesses(facts(d=Status.SENT), facts(d=Status.QUEUED))
    short = Witnesses(0, False, whole.sources, whole.feed, whole.state, whole.stored)
    assert [finding.kind for finding in compare(whole).findings] == ["clickhouse_differs"]
    assert compare(short).findings == []


def test_coordinates_go_into_one_number_and_back() -> None:
    """Packing loses nothing; a re-keyed record's origin names the same place."""
    packed = coordinate(3, 95, 1 << 40)
    assert unpacked(packed) == (3, 95, 1 << 40)
    assert shown(packed) == f"harkara.ingest.bulk/95/{1 << 40}"
    assert origin("harkara.ingest.bulk/95/7") == coordinate(3, 95, 7)
    assert [
        origin(text) for text in ("", "nowhere/0/1", "harkara.ingest.bulk/0", "harkara.ingest.bulk/x/1")
    ] == [
        None,
        None,
        None,
        None,
    ]
