"""Caps: counted where a message is meant to be sent, exact under deferral, release and replay."""

from streams.policy.caps import MOST_PLACES, settle
from streams.policy.delivering import delivery_of
from streams.reasons import Reason
from streams.records.decision import Defer, Deliver, Reservation, Suppress
from streams.records.state import Reservations
from tests.streams.policy.reader import Reader, capped, sent
from tests.streams.policy.world import (
    DAY,
    HOUR,
    NOON,
    at,
    decided,
    one,
    phone,
    place,
    request,
    user,
)

NIGHT = at("2026-06-01T23:00:00+06:00")
MORNING = at("2026-06-02T08:00:00+06:00")


def test_the_fourth_of_a_day_is_suppressed() -> None:
    """Marketing, three a local day (R-130)."""
    reader = Reader()
    assert [sent(reader.gets("offer", f"n{i}", NOON + i)) for i in range(3)] == [True] * 3
    assert capped(reader.gets("offer", "n3", NOON + 3))


def test_the_day_is_the_user_s_own() -> None:
    """23:30 and 00:30 in Dhaka are two days (CAP-07)."""
    reader = Reader(user("Asia/Dhaka", quiet_start=0, quiet_end=0))
    for n, text in enumerate(("2026-06-01T17:30:00Z", "2026-06-01T17:31:00Z", "2026-06-01T17:32:00Z")):
        assert sent(reader.gets("offer", f"a{n}", at(text)))
    assert capped(reader.gets("offer", "b", at("2026-06-01T17:59:59Z")))
    assert sent(reader.gets("offer", "c", at("2026-06-01T18:30:00Z")))


def test_what_waits_for_the_morning_counts_in_the_morning_s_day() -> None:
    """The intended instant is computed first; three held at night fill the next day."""
    reader = Reader()
    for n in range(3):
        assert isinstance(reader.gets("offer", f"n{n}", NIGHT)[0], Defer)
    assert capped(reader.gets("offer", "n3", MORNING + HOUR))
    assert {entry.at_ms for entry in reader.places.held} == {MORNING}


def test_a_cap_s_no_beats_a_quiet_later() -> None:
    """Nothing waits all night to be refused in the morning."""
    found = one(request("offer"), user(), NIGHT, [place(f"o{n}", MORNING) for n in range(3)])
    assert isinstance(found, Suppress)
    assert (found.reason, found.rule) == (Reason.CAP_REACHED, "cap")


def test_today_s_full_cap_does_not_hinder_tomorrow_s_message() -> None:
    """Three sent today, one more at 23:00: it waits, for it belongs to tomorrow."""
    assert isinstance(one(request("offer"), user(), NIGHT, [place(f"o{n}", NOON) for n in range(3)]), Defer)


def test_a_delivery_s_own_place_never_counts_against_it() -> None:
    """Three wait for the morning, and all three are sent then."""
    reader = Reader()
    waiting = []
    for n in range(3):
        wanted = request("offer", notification_id=f"n{n}")
        (decision,) = reader.gets("offer", f"n{n}", NIGHT)
        waiting.append(delivery_of(wanted, decision, NIGHT))
    assert all(sent(reader.returns(delivery, MORNING)) for delivery in waiting)
    assert len(reader.places.held) == 3


def test_a_notification_counts_once_whatever_its_deliveries() -> None:
    """Two phones and a number, three notifications (R-129)."""
    reader = Reader(user(devices=[phone("a"), phone("b")]))
    assert sent(reader.gets("sale", "n0", NOON))
    assert all(sent(reader.gets("offer", f"m{n}", NOON + n)) for n in range(2))
    assert capped(reader.gets("offer", "m2", NOON + 2))


def test_a_place_goes_with_the_last_of_its_deliveries() -> None:
    """One of two phones fails: the place stays. Both: another offer may come (R-129)."""
    reader = Reader(user(devices=[phone("a"), phone("b")]))
    first, second = reader.gets("offer", "n0", NOON)
    reader.gets("offer", "n1", NOON)
    reader.gets("offer", "n2", NOON)
    reader.fails(first, "n0")
    assert capped(reader.gets("offer", "n3", NOON))
    reader.fails(second, "n0")
    assert sent(reader.gets("offer", "n4", NOON))


def test_giving_back_twice_gives_back_once() -> None:
    """A replayed release finds nothing, and the same value comes back."""
    reader = Reader()
    (decision,) = reader.gets("offer", "n0", NOON)
    reader.gets("offer", "n1", NOON)
    reader.fails(decision, "n0")
    once = reader.places
    reader.fails(decision, "n0")
    assert reader.places is once
    assert len(once.held) == 1


def test_what_is_suppressed_later_gives_its_place_back() -> None:
    """An opt-out while it waits (UNS-04)."""
    reader = Reader()
    wanted = request("offer", notification_id="n0")
    (decision,) = reader.gets("offer", "n0", NIGHT)
    reader.profile = user(preferences={("marketing", "*"): False})
    assert isinstance(reader.returns(delivery_of(wanted, decision, NIGHT), MORNING)[0], Suppress)
    assert reader.places.held == ()


def test_a_deferral_moves_the_place() -> None:
    """From one morning to the next one: it counts there, and only there."""
    reader = Reader()
    wanted = request("offer", notification_id="n0")
    (decision,) = reader.gets("offer", "n0", NIGHT)
    reader.profile = user(quiet_start=0, quiet_end=23 * 60)
    (moved,) = reader.returns(delivery_of(wanted, decision, NIGHT), MORNING)
    assert isinstance(moved, Defer)
    assert [entry.at_ms for entry in reader.places.held] == [moved.until_ms]


def test_failed_and_urgent_messages_do_not_count() -> None:
    """In order: offer (fails), offer, offer, offer, offer: only the last is over; the code comes (CAP-06)."""
    reader = Reader()
    (lost,) = reader.gets("offer", "n0", NOON)
    reader.fails(lost, "n0")
    assert all(sent(reader.gets("offer", f"n{n}", NOON)) for n in (1, 2, 3))
    assert capped(reader.gets("offer", "n4", NOON))
    assert sent(reader.gets("otp", "n5", NOON))
    assert sent(reader.gets("order", "n6", NOON))
    assert {entry.notification_id for entry in reader.places.held} == {"n1", "n2", "n3"}


def test_a_rolling_window_holds_no_more_than_its_limit() -> None:
    """Two of a category in any seven days, on every path (CAP-01, CAP-05)."""
    reader = Reader()
    assert sent(reader.gets("letter", "a", NOON))
    assert sent(reader.gets("letter", "b", NOON + 3 * DAY))
    assert capped(reader.gets("letter", "c", NOON + 6 * DAY))
    assert sent(reader.gets("letter", "d", NOON + 7 * DAY))
    assert capped(reader.gets("letter", "e", NOON + 9 * DAY))
    assert sent(reader.gets("letter", "f", NOON + 10 * DAY))


def test_windows_of_caps_are_half_open() -> None:
    """Midnight belongs to the new day, and what lies a whole window apart never counts together."""
    midnight = at("2026-06-02T00:00:00+06:00")
    awake = user(quiet_start=0, quiet_end=0)
    full = [place(f"o{n}", midnight) for n in range(3)]
    assert isinstance(one(request("offer"), awake, midnight - 1, full), Deliver)
    assert isinstance(one(request("offer"), awake, midnight, full), Suppress)
    apart = [place("before", NOON - DAY, "letter"), place("after", NOON + 6 * DAY, "letter")]
    assert isinstance(one(request("letter"), awake, NOON, apart), Deliver)
    assert isinstance(
        one(request("letter"), awake, NOON, [apart[0], place("after", NOON + DAY, "letter")]), Suppress
    )


def test_a_cap_over_all_categories_counts_them_together() -> None:
    """Four a day of everything that counts, whatever its category."""
    reader = Reader()
    assert all(sent(reader.gets("offer", f"n{n}", NOON)) for n in range(3))
    assert sent(reader.gets("letter", "l0", NOON))
    assert capped(reader.gets("letter", "l1", NOON))


def test_settling_again_what_was_settled_changes_nothing() -> None:
    """The same decisions over the places they led to give the same value back (replay rule)."""
    reader = Reader(user(devices=[phone("a"), phone("b")]))
    wanted = request("offer")
    found = tuple(reader.gets("offer", "n1", NOON))
    assert settle(reader.places, wanted, found, NOON) is reader.places


def test_a_type_without_caps_costs_nothing() -> None:
    """No place, no new value, no write."""
    empty = Reservations()
    wanted = request("order")
    assert settle(empty, wanted, tuple(decided(wanted, user(), NOON)), NOON) is empty
    some = Reservations((place("o", NOON),))
    assert settle(some, wanted, tuple(decided(wanted, user(), NOON)), NOON) is some


def test_places_leave_when_no_window_can_hold_them() -> None:
    """A day and two hours later at the latest; the list never grows past its bound."""
    old = Reservations((place("old", NOON - 27 * HOUR), place("new", NOON)))
    wanted = request("order")
    kept = settle(old, wanted, tuple(decided(wanted, user(), NOON)), NOON)
    assert [entry.notification_id for entry in kept.held] == ["new"]
    many: tuple[Reservation, ...] = tuple(place(f"m{n}", NOON + n) for n in range(MOST_PLACES))
    offer = request("letter")
    full = settle(Reservations(many), offer, tuple(decided(offer, user(), NOON + HOUR)), NOON + HOUR)
    assert len(full.held) == MOST_PLACES
    assert [entry.at_ms for entry in full.held] == sorted(entry.at_ms for entry in full.held)
