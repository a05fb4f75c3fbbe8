"""The demo's day: its size, its repeatability, and that each event is what it is called."""

from collections import Counter

import pytest

from harkara.catalogs import catalog_of
from harkara.demo.bad_events import REFUSED_AS
from harkara.demo.events import Event
from harkara.demo.people import DEAD
from harkara.demo.timetable import day_after
from harkara.demo.world import World, make_world
from harkara.settings import Settings
from streams.ids import partition_of
from streams.policy.addresses import canonical
from streams.policy.admission import read_request
from streams.policy.command_check import unfit_command
from streams.records.unfit import Unfit
from streams.topics import BY_NAME

NOW_MS = 1_796_100_000_000
TIMETABLE = day_after(NOW_MS)
CATALOG = catalog_of(Settings())


@pytest.fixture(scope="module")
def world() -> World:
    """The day as `harkara demo` plays it."""
    return make_world(7, 2_500, "r1", TIMETABLE)


def test_the_day_is_as_large_as_it_is_said_to_be(world: World) -> None:
    """2,500 people and at least 26,000 events, of which about 4 % are repeats."""
    kinds = Counter(each.kind for each in world.events)
    assert len(world.people) == 2_500
    assert len(world.events) >= 26_000
    assert 0.03 < kinds["repeat"] / len(world.events) < 0.05


def test_the_same_seed_is_the_same_day(world: World) -> None:
    """Nothing but seed, size, tag and timetable decides what happens."""
    assert make_world(7, 2_500, "r1", TIMETABLE) == world
    assert make_world(8, 2_500, "r1", TIMETABLE) != world


def test_another_run_shares_no_id(world: World) -> None:
    """Every id and key carries the run's tag, so that a second day on one folder repeats nothing."""
    assert all(b'"r1-' in each.value for each in world.events if each.kind != "no_identity")


def test_every_event_is_what_it_is_called(world: World) -> None:
    """Good events and repeats are fit; each bad one is refused for the reason of its kind."""
    for each in world.events:
        found = _refusal(each)
        assert found == REFUSED_AS.get(each.kind if each.kind != "key_reused" else "", None), each


def test_every_kind_of_bad_event_happens(world: World) -> None:
    """None of the kinds is forgotten, and a client with another partitioner takes part."""
    assert {each.kind for each in world.events} == {"event", "repeat", *REFUSED_AS}
    assert any(each.by_crc32 for each in world.events)


def test_people_are_told_about_in_fit_commands(world: World) -> None:
    """No command is refused, and every number is one that can exist."""
    for person in world.people:
        assert canonical("sms", person.number) == person.number
        assert [unfit_command(command) for command in person.commands(NOW_MS) if unfit_command(command)] == []


def test_people_differ_in_what_the_rules_are_about(world: World) -> None:
    """About one in eight refuses offers; some have no phone, some a dead token, some their own hours."""
    assert 0.10 < sum(person.offers == "opted_out" for person in world.people) / 2_500 < 0.14
    assert any(not person.tokens for person in world.people)
    assert any(token.endswith(DEAD) for person in world.people for token in person.tokens)
    assert any(person.quiet for person in world.people)
    assert len({person.number for person in world.people}) == 2_500
    assert {person.zone for person in world.people} == {
        "Asia/Dhaka",
        "Asia/Riyadh",
        "Europe/London",
        "America/New_York",
    }


def test_a_small_world_has_everything_too() -> None:
    """A tenth of the people live the same day."""
    small = make_world(7, 200, "r1", TIMETABLE)
    assert {each.kind for each in small.events} == {"event", "repeat", *REFUSED_AS}
    assert all((small.morning, small.campaign, small.passwords, small.outage, small.sleepers))


def test_passwords_reach_different_people(world: World) -> None:
    """A newer password replaces an older one of the same person, so nobody gets two in one scene."""
    users = [each.user_id for each in world.passwords]
    assert len(set(users)) == len(users) == 540


def _refusal(each: Event) -> object:
    partition = partition_of(each.key, 4) if each.key else 0
    read = read_request(BY_NAME[each.topic], 4, each.key, each.value, partition, 0, None, CATALOG, "default")
    return read.reason if isinstance(read, Unfit) else None
