"""Counting what becomes of deliveries from the public feed."""

from harkara.tally import Tally
from streams.records.delivery_event import DeliveryEvent
from streams.statuses import Status


def _event(delivery: str, status: Status, *, cohort_ms: int = 100, until_ms: int = 0) -> DeliveryEvent:
    return DeliveryEvent(
        delivery_id=delivery,
        notification_id="n",
        tenant="default",
        user_id="u",
        status=status,
        type="otp",
        category="security",
        lane="critical",
        channel="sms",
        cohort_at_ms=cohort_ms,
        occurred_at_ms=cohort_ms,
        until_ms=until_ms,
    )


def test_a_delivery_counts_where_it_stands_now() -> None:
    """Each event moves its delivery; nothing is counted in two statuses."""
    tally = Tally()
    for status in (Status.QUEUED, Status.SENDING, Status.SENT):
        tally.note(_event("d", status))
    assert (tally.accepted, tally.count(Status.SENT)) == (1, 1)
    assert tally.count(Status.QUEUED, Status.SENDING) == 0


def test_a_final_status_stays() -> None:
    """The router's `queued` may come after the sender's `sent`; both may come twice."""
    tally = Tally()
    for status in (Status.SENT, Status.QUEUED, Status.SENT):
        tally.note(_event("d", status))
    assert (tally.accepted, tally.count(Status.SENT), tally.open(0)) == (1, 1, 0)


def test_what_waits_is_open_only_when_its_instant_is_near() -> None:
    """A deferral counts as open from the instant on that is asked for."""
    tally = Tally()
    tally.note(_event("d", Status.DEFERRED, until_ms=500))
    assert [tally.open(500), tally.open(501)] == [0, 1]


def test_a_repeat_is_no_delivery() -> None:
    """Duplicates stand beside what was accepted."""
    tally = Tally()
    tally.note(_event("topic/0/1", Status.DUPLICATE))
    assert (tally.accepted, tally.duplicates) == (0, 1)


def test_an_earlier_day_is_left_out() -> None:
    """What was admitted before the given instant is not counted, whatever happens to it now."""
    tally = Tally(since_ms=100)
    tally.note(_event("old", Status.SENT, cohort_ms=99))
    tally.note(_event("new", Status.SENT, cohort_ms=100))
    assert tally.accepted == 1
