"""Caps through days of anything that can happen."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from streams.policy.calendar import local_day
from streams.policy.caps import release
from streams.policy.delivering import delivery_of, redelivery_of
from streams.reasons import Reason
from streams.records.decision import Defer, Deliver, Suppress
from streams.records.delivery import Delivery
from streams.records.followup import Settle
from streams.records.state import Reservations
from tests.streams.policy.reader import Reader
from tests.streams.policy.world import HOUR, at, phone, request, user


@given(
    steps=st.lists(
        st.tuples(st.integers(0, 4 * HOUR), st.sampled_from(["offer", "sale", "fail"])),
        max_size=60,
    ),
    zone=st.sampled_from(["Asia/Dhaka", "America/New_York", "Australia/Lord_Howe"]),
    phones=st.integers(1, 2),
)
def test_no_local_day_ever_holds_more_than_the_cap(
    steps: list[tuple[int, str]], zone: str, phones: int
) -> None:
    """Through nights, failures, deferrals and clock changes: at most three notifications a day are sent.

    And a cap suppresses only while some day is full.
    """
    reader = Reader(user(zone, devices=[phone(str(n)) for n in range(phones)]))
    now = at("2026-10-30T00:00:00Z")
    sent_on: dict[tuple[int, int], set[str]] = {}
    waiting: list[tuple[int, Delivery]] = []
    gone_ahead: list[Delivery] = []

    def note(decisions: list[Any], deliveries: list[Delivery]) -> None:
        for decision, delivery in zip(decisions, deliveries, strict=True):
            if isinstance(decision, Deliver):
                gone_ahead.append(delivery)
            elif isinstance(decision, Defer):
                waiting.append((decision.until_ms, delivery))

    for number, (passed, what) in enumerate(steps):
        now += passed
        for due, delivery in sorted(waiting, key=lambda item: item[0]):
            if due <= now:
                waiting.remove((due, delivery))
                found = reader.returns(delivery, now)
                note(found, [redelivery_of(delivery, decision) for decision in found])
        if what == "fail":
            for delivery in gone_ahead[-phones:]:
                reader.places = release(reader.places, settled_of(delivery))
            del gone_ahead[-phones:]
        else:
            full = fullest(reader.places, zone)
            wanted = request(what, notification_id=f"n{number}")
            found = reader.gets(what, f"n{number}", now)
            note(found, [delivery_of(wanted, decision, now) for decision in found])
            if any(isinstance(d, Suppress) and d.reason is Reason.CAP_REACHED for d in found):
                assert full >= 3
    for delivery in gone_ahead:
        sent_on.setdefault(local_day(zone, delivery.decided_at_ms), set()).add(delivery.notification_id)
    assert all(len(names) <= 3 for names in sent_on.values())


def settled_of(delivery: Delivery) -> Settle:
    """Return what a sender hands back for a delivery that failed."""
    return Settle("u1", delivery.notification_id, delivery.delivery_id, delivery.channel)


def fullest(places: Reservations, zone: str) -> int:
    """Return how many notifications the fullest local day holds."""
    days: dict[tuple[int, int], set[str]] = {}
    for entry in places.held:
        days.setdefault(local_day(zone, entry.at_ms), set()).add(entry.notification_id)
    return max((len(names) for names in days.values()), default=0)
