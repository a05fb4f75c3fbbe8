"""Why: every state that a message can be in is told, with its reason."""

import pytest
from msgspec.structs import replace

from harkara.questions.asked import Asked
from harkara.questions.story import Answer
from harkara.questions.why import Why
from streams.reasons import Reason
from streams.records.codec import to_json
from streams.records.dead_letter import DeadLetter
from streams.records.delivery_event import DeliveryEvent, event_of
from streams.records.followup import Reconsider
from streams.records.rejection import Rejection
from streams.statuses import Status
from streams.topics import DEAD_LETTERS, REJECTED
from tests.connectors.clickhouse.conftest import HASH_KEY
from tests.connectors.clickhouse.lives import START_MS
from tests.harkara.world import INGESTED, World

pytestmark = pytest.mark.integration

UNTIL_MS = START_MS + 7_200_000


def why(world: World, asked: Asked, last: int = 20) -> Answer:
    """Ask."""
    return Why(world.analytics.client, world.scan(), HASH_KEY, world.analytics.name).of(asked, last)


def test_sent_by_any_way_of_asking(world: World) -> None:
    """By notification, delivery, user and key the same story comes, with every fact in order."""
    sent = world.send(world.queue(world.receive("u1", "n-1", "order-7"), key="order-7"))
    world.commit_all()
    for asked in (
        Asked.by_id("n-1"),
        Asked.by_id(sent.delivery_id),
        Asked.by_user("u1"),
        Asked.by_key("default", "order-7"),
    ):
        answer = why(world, asked)
        assert answer.verdict == "known"
        (story,) = answer.deliveries
        assert [fact.status for fact in story.facts] == [Status.QUEUED, Status.SENT]
        assert (story.status, story.delivery_id, story.queued) == (Status.SENT, sent.delivery_id, False)
        assert story.sentence == "sent by fcm at 2026-12-01 00:00:00.100"


def test_waiting_until_when_and_by_which_rule(world: World) -> None:
    """What waits tells its instant and rule from the schedule itself."""
    world.defer(world.receive("u1", "n-1"), UNTIL_MS, Reason.QUIET_HOURS)
    world.commit_all()
    (story,) = why(world, Asked.by_id("n-1")).deliveries
    assert story.waits is not None
    assert (story.waits.until_ms, story.waits.rule) == (UNTIL_MS, "quiet_hours")
    assert story.sentence == "waits until 2026-12-01 02:00:00.000: quiet_hours, by quiet_hours"


def test_a_row_that_left_the_schedule_waits_no_more(world: World) -> None:
    """A tombstone ends the waiting."""
    one = world.defer(world.receive("u1", "n-1"), UNTIL_MS, Reason.QUIET_HOURS)
    key = world.waiting_key(one, UNTIL_MS)
    world.put_state(one.user_id, key, None)
    (story,) = why(world, Asked.by_user("u1")).deliveries
    assert story.waits is None


def test_queued_is_what_no_sender_acknowledged(world: World) -> None:
    """A delivery beyond the sender's committed offset is queued, one before it is not."""
    world.queue(world.receive("u1", "n-1"))
    world.commit_all()
    world.queue(world.receive("u1", "n-2"))
    stories = {one.notification_id: one for one in why(world, Asked.by_user("u1")).deliveries}
    assert stories["n-2"].sentence == "queued: no sender has taken it yet"
    assert (stories["n-1"].queued, stories["n-2"].queued) == (False, True)


def test_a_call_under_way(world: World) -> None:
    """An open claim is a call under way or lost."""
    world.claim(world.queue(world.receive("u1", "n-1")), None)
    world.commit_all()
    (story,) = why(world, Asked.by_id("n-1")).deliveries
    assert story.calling
    assert story.sentence.startswith("a call to the provider is under way")


def test_on_its_way_back(world: World) -> None:
    """A delivery that a sender gave back and no router has taken yet."""
    one = world.queue(world.receive("u1", "n-1"))
    world.commit_all()
    world.come_back(one, Reconsider(replace(one, attempt=2), START_MS, Reason.THROTTLED))
    (story,) = why(world, Asked.by_id("n-1")).deliveries
    assert story.returning
    assert "on its way back" in story.sentence


def test_suppressed_with_reason_and_rule(world: World) -> None:
    """What a rule stopped names the rule."""
    world.suppress(world.receive("u1", "n-1"), Reason.OPTED_OUT)
    world.commit_all()
    (story,) = why(world, Asked.by_id("n-1")).deliveries
    assert story.sentence == "suppressed: opted_out, by consent, at 2026-12-01 00:00:00.000"


def test_rejected_events(world: World) -> None:
    """A refusal is found by user, by id and by key, with place and detail."""
    refusal = Rejection(
        Reason.MISSING_PARAMETER,
        "/data/code",
        "is required",
        "default",
        "n-1",
        "k-1",
        INGESTED,
        0,
        3,
        START_MS,
    )
    world.put(REJECTED.full_name, "u1", b"u1", to_json(refusal))
    for asked in (Asked.by_user("u1"), Asked.by_id("n-1"), Asked.by_key("default", "k-1")):
        answer = why(world, asked)
        assert (answer.verdict, answer.rejected[0].pointer) == ("rejected", "/data/code")
    assert why(world, Asked.by_user("u2")).verdict == "never_received"


def test_dead_letters_show_no_content(world: World) -> None:
    """What was put aside is found by user or id; its bytes are not shown."""
    letter = DeadLetter(
        Reason.POISON,
        "KeyError",
        "router",
        INGESTED,
        0,
        3,
        b"u1",
        b'{"notification_id":"n-1","x":"canary"}',
        START_MS,
    )
    world.put(DEAD_LETTERS.full_name, "u1", b"u1", to_json(letter))
    for asked in (Asked.by_user("u1"), Asked.by_id("n-1")):
        answer = why(world, asked)
        assert (answer.verdict, answer.dead_letters[0].reason) == ("dead_letter", "poison")
        assert b"canary" not in to_json(answer)


def test_duplicates_stand_beside(world: World) -> None:
    """A repeat is told with the place of its record, and makes no delivery."""
    one = world.send(world.queue(world.receive("u1", "n-1")))
    again = world.receive("u1", "n-1")
    world.tell(
        DeliveryEvent(
            delivery_id=f"{INGESTED}/{again.src_partition}/{again.src_offset}", notification_id="n-1",
            tenant="default", user_id="u1", status=Status.DUPLICATE, type="order_shipped", category="orders",
            lane="transactional", channel="", cohort_at_ms=START_MS, occurred_at_ms=START_MS,
            src_topic=one.src_topic, src_partition=again.src_partition, src_offset=again.src_offset,
        )
    )  # fmt: skip
    world.commit_all()
    answer = why(world, Asked.by_id("n-1"))
    assert len(answer.deliveries) == 1
    assert answer.duplicates[0].source.offset == again.src_offset


def test_undecided_then_lost_then_never_received(world: World) -> None:
    """An event that arrived is undecided until acknowledged; after that, silence is told as a loss."""
    world.receive("u1", "n-1", "k-1")
    for asked in (Asked.by_user("u1"), Asked.by_id("n-1"), Asked.by_key("default", "k-1")):
        assert why(world, asked).verdict == "undecided"
    world.commit_all()
    answer = why(world, Asked.by_id("n-1"))
    assert (answer.verdict, answer.unexplained[0].topic) == ("lost", INGESTED)
    assert why(world, Asked.by_id("n-2")).verdict == "never_received"


def test_what_the_sink_has_not_stored_is_told(world: World) -> None:
    """While ClickHouse is behind, the feed itself is read."""
    world.stored = False
    world.send(world.queue(world.receive("u1", "n-1")))
    (story,) = why(world, Asked.by_user("u1")).deliveries
    assert story.status is Status.SENT


def test_every_attempt_with_its_reason(world: World) -> None:
    """Failed attempts, the wait between, and the end are all there."""
    one = world.queue(world.receive("u1", "n-1"))
    refused = replace(
        event_of(one, Status.SENDING, START_MS + 10, attempt=1, reason=Reason.THROTTLED),
        provider="fcm",
        error_code="429",
    )
    world.tell(refused)
    world.tell(
        event_of(
            one, Status.DEFERRED, START_MS + 20, attempt=2, seq=1, rule="sender", reason=Reason.THROTTLED
        )
    )
    world.send(replace(one, attempt=2), attempt=2)
    world.commit_all()
    (story,) = why(world, Asked.by_id(one.delivery_id)).deliveries
    assert [(f.status, f.attempt, f.error_code) for f in story.facts][1] == (Status.SENDING, 1, "429")
    assert story.sentence == "sent by fcm at 2026-12-01 00:00:00.100, attempt 2"


def test_a_users_last_notifications(world: World) -> None:
    """As many as asked for, of that user only."""
    for n in range(5):
        world.send(world.queue(replace(world.receive("u1", f"n-{n}"), cohort_at_ms=START_MS + n)))
    world.send(world.queue(world.receive("u2", "other")))
    world.commit_all()
    answer = why(world, Asked.by_user("u1"), last=2)
    assert {one.notification_id for one in answer.deliveries} == {"n-3", "n-4"}
