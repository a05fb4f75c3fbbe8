"""The audit: holds on a sound installation, and fails on every defect that is planted."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from harkara.audit.audit import Report, audit, look
from streams.reasons import Reason
from streams.records.codec import to_json
from streams.records.delivery import Delivery
from streams.records.delivery_event import DeliveryEvent, event_of
from streams.records.followup import Reconsider
from streams.records.rejection import Rejection
from streams.statuses import Status
from streams.topics import REJECTED
from tests.connectors.clickhouse.lives import START_MS
from tests.harkara.world import INGESTED, World

pytestmark = pytest.mark.integration

NOW_MS = START_MS + 1_000
UNTIL_MS = START_MS + 7_200_000


def audited(world: World, now_ms: int = NOW_MS) -> Report:
    """Audit without waiting between looks."""
    a = world.analytics
    scan = world.scan()
    return audit(lambda: look(scan, a.client, now_ms, lambda *_: None, a.name), pause=lambda _: None)


def found(report: Report) -> set[tuple[str, str]]:
    """Return kinds and culprits."""
    return {(finding.kind, finding.who) for finding in report.findings}


def test_it_holds_on_everything_that_may_happen(world: World) -> None:
    """Sent, waiting, queued, under way, coming back, suppressed, refused, repeated, re-keyed, undecided."""
    for n in range(5):
        world.send(world.queue(world.receive(f"u{n}")))
    world.suppress(world.receive("u1"), Reason.OPTED_OUT)
    world.defer(world.receive("u2"), UNTIL_MS, Reason.QUIET_HOURS)
    world.claim(world.queue(world.receive("u3")), None)
    back = world.queue(world.receive("u4"))
    refused = world.receive("u5")
    rejection = Rejection(
        Reason.UNKNOWN_TYPE,
        "/type",
        "",
        "default",
        "",
        "",
        INGESTED,
        refused.src_partition,
        refused.src_offset,
        1,
    )
    world.put(REJECTED.full_name, "u5", b"u5", to_json(rejection))
    first = world.send(world.queue(world.receive("u6", "n-6")))
    repeat(world, world.receive("u6", "n-6"), first.notification_id)
    # A record that came to a foreign partition, and twice home: one source.
    origin = f"{INGESTED}/0/{10**6}"
    world.send(world.queue(world.receive("u7", "n-7", harkara_origin=origin.encode()), origin=origin))
    world.receive("u7", "n-7", harkara_origin=origin.encode())
    world.commit_all()
    world.come_back(back, Reconsider(replace(back, attempt=2), START_MS, Reason.THROTTLED))
    world.queue(world.receive("u8"))
    world.receive("u9")
    report = audited(world)
    assert report.findings == ()
    assert report.holds
    assert (report.lost, report.duplicate_sends, report.looks) == (0, 0, 1)
    assert report.accepted == 13
    assert {part: n for part, n in report.parts.items() if n} == {"sent": 7, "suppressed": 1, "pending": 5}
    kinds = {"undecided": 1, "waiting": 1, "queued": 1, "calling": 1, "returning": 1, "moving": 0}
    assert report.pending == kinds
    assert report.events == {
        "admitted": 12, "duplicates": 1, "received": 15, "refused": 1, "rekeyed": 2, "undecided": 1,
    }  # fmt: skip


def repeat(world: World, again: Delivery, notification: str) -> None:
    """Tell that an event came again."""
    place = (again.src_topic, again.src_partition, again.src_offset)
    world.tell(
        DeliveryEvent(
            delivery_id=f"{INGESTED}/{place[1]}/{place[2]}", notification_id=notification, tenant="default",
            user_id="u6", status=Status.DUPLICATE, type="order_shipped", category="orders",
            lane="transactional", channel="", cohort_at_ms=START_MS, occurred_at_ms=START_MS,
            src_topic=place[0], src_partition=place[1], src_offset=place[2],
        )
    )  # fmt: skip


def test_a_sink_that_is_behind_loses_nothing(world: World) -> None:
    """What lies in the feed beyond the sink's offset is on its way, not missing."""
    world.send(world.queue(world.receive("u1")))
    world.commit_all()
    world.stored = False
    world.send(world.queue(world.receive("u2")))
    report = audited(world)
    assert report.holds
    assert report.parts["sent"] == 2


def test_a_first_result_may_leave_after_its_window(world: World) -> None:
    """Swept state is no defect: the window of its first result is over."""
    one = world.send(world.queue(world.receive("u1")))
    world.forget(one)
    world.commit_all()
    assert audited(world, now_ms=START_MS + 86_400_001).holds


def test_an_unknown_explains_a_repeat(world: World) -> None:
    """Sent, unknown and tried again by policy: two sends, none without an explanation."""
    one = world.send(world.queue(world.receive("u1")), "m-1")
    lost = event_of(one, Status.UNKNOWN, START_MS + 200, attempt=2)
    world.tell(lost)
    world.send(one, "m-3", attempt=3)
    world.commit_all()
    report = audited(world)
    assert (report.holds, report.duplicate_sends) == (True, 0)


def lost_source(world: World) -> tuple[str, str]:
    """An event that was acknowledged and never decided."""
    one = world.receive("u1")
    return "lost_source", f"{INGESTED}/{one.src_partition}/{one.src_offset}"


def deleted_first_result(world: World) -> tuple[str, str]:
    """A tombstone over a first result whose window is open: a copy would be sent again."""
    one = world.send(world.queue(world.receive("u1")))
    world.forget(one)
    return "no_first_result", one.delivery_id


def skipped_event(world: World) -> tuple[str, str]:
    """ClickHouse has not the last event, although the sink acknowledged it."""
    one = world.queue(world.receive("u1"))
    world.stored = False
    world.send(one)
    return "clickhouse_differs", one.delivery_id


def skipped_delivery(world: World) -> tuple[str, str]:
    """ClickHouse has never seen a delivery."""
    world.stored = False
    one = world.send(world.queue(world.receive("u1")))
    return "missing_in_clickhouse", one.delivery_id


def deleted_row(world: World) -> tuple[str, str]:
    """A waiting delivery whose row is gone: nothing will ever happen to it."""
    one = world.defer(world.receive("u1"), UNTIL_MS, Reason.QUIET_HOURS)
    world.put_state("u1", world.waiting_key(one, UNTIL_MS), None)
    return "lost_delivery", one.delivery_id


def dropped_from_a_lane(world: World) -> tuple[str, str]:
    """A queued delivery that a sender acknowledged without a trace."""
    one = world.queue(world.receive("u1"))
    return "lost_delivery", one.delivery_id


def sent_twice(world: World) -> tuple[str, str]:
    """Two sends, and no unknown between them."""
    one = world.send(world.queue(world.receive("u1")), "m-1")
    world.send(one, "m-2", attempt=2)
    return "repeated_send", one.delivery_id


def sent_twice_in_one_attempt(world: World) -> tuple[str, str]:
    """Two provider ids for one attempt, which the table itself keeps as one row."""
    one = world.send(world.queue(world.receive("u1")), "m-1")
    world.send(one, "m-2")
    return "repeated_send", one.delivery_id


def sent_by_nobody(world: World) -> tuple[str, str]:
    """A send without any claim."""
    one = world.queue(world.receive("u1"))
    world.tell(replace(event_of(one, Status.SENT, START_MS + 1, attempt=1), provider="fcm"))
    return "sent_without_claim", one.delivery_id


def waits_although_sent(world: World) -> tuple[str, str]:
    """A row in the schedule for what was sent already."""
    one = world.defer(world.receive("u1"), UNTIL_MS, Reason.QUIET_HOURS)
    world.send(one)
    return "still_held", one.delivery_id


def invented_in_clickhouse(world: World) -> tuple[str, str]:
    """A row that the feed never told."""
    one = world.queue(world.receive("u1"))
    ghost = replace(one, delivery_id="6f1d0c1e-52a7-5b0e-9d5e-0f2a6b7c8d90")
    world.analytics.writer.write([event_of(ghost, Status.SUPPRESSED, START_MS, attempt=1)])
    world.commit_all()
    world.claim(one, None)
    return "unknown_to_kafka", ghost.delivery_id


def another_end_than_the_claims(world: World) -> tuple[str, str]:
    """The feed and ClickHouse lack the sender's last word."""
    one = world.queue(world.receive("u1"))
    world.claim(one, event_of(one, Status.EXPIRED, START_MS + 5, attempt=1))
    return "claim_differs", one.delivery_id


DEFECTS: list[Callable[[World], tuple[str, str]]] = [
    lost_source,
    deleted_first_result,
    skipped_event,
    skipped_delivery,
    deleted_row,
    dropped_from_a_lane,
    sent_twice,
    sent_twice_in_one_attempt,
    sent_by_nobody,
    waits_although_sent,
    invented_in_clickhouse,
    another_end_than_the_claims,
]


@pytest.mark.parametrize("plant", DEFECTS, ids=[one.__name__ for one in DEFECTS])
def test_a_planted_defect_is_named(world: World, plant: Callable[[World], tuple[str, str]]) -> None:
    """Among sound deliveries, the defect makes the audit fail and its culprit is named."""
    for n in range(3):
        world.send(world.queue(world.receive(f"sound-{n}")))
    kind, culprit = plant(world)
    world.commit_all()
    report = audited(world)
    assert not report.holds
    assert (kind, culprit) in found(report)
    assert {who for _, who in found(report)} == {culprit}
    assert report.looks == 3
    assert report.lost == (1 if kind.startswith("lost") else 0)
    assert report.duplicate_sends == (1 if kind == "repeated_send" else 0)
