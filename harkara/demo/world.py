"""All that happens on the demo's day, made from a seed: the same seed is the same day."""

import random
from dataclasses import dataclass
from datetime import timedelta

from msgspec.structs import replace

from harkara.demo.bad_events import bad_events
from harkara.demo.events import Event, altered, event, everyday, offer, password, repeated, sign_up
from harkara.demo.people import Person, people
from harkara.demo.timetable import Timetable
from streams.topics import Lane

_REPEATED = 0.04
_FOREIGN = 0.01  # written by a client with another partitioner
_OFFERS = 4  # a user; the cap lets three through
_MORNING_PACE = 1_000  # events a second, for 2,500 users
_OUTAGE_PACE = 450


@dataclass(frozen=True)
class World:
    """People and events. `tag` makes the ids of two runs differ; times are those of `timetable`."""

    people: tuple[Person, ...]
    morning: tuple[Event, ...]
    campaign: tuple[Event, ...]  # all at once
    passwords: tuple[Event, ...]  # while the campaign is sent
    outage: tuple[Event, ...]
    sleepers: tuple[Event, ...]  # late at night
    late_passwords: tuple[Event, ...]

    @property
    def events(self) -> tuple[Event, ...]:
        """Everything that is written to ingest."""
        day = (*self.morning, *self.campaign, *self.passwords, *self.outage)
        return (*day, *self.sleepers, *self.late_passwords)


def make_world(seed: int, users: int, tag: str, timetable: Timetable) -> World:
    """Return a day of so many users: about eleven events each, 26,000 for 2,500."""
    dice = random.Random(seed)  # noqa: S311 - a world, no secrets
    inhabitants = people(dice, users)
    maker = _Maker(dice, inhabitants, tag, timetable)
    return World(
        inhabitants,
        maker.with_mishaps(
            maker.strangers(max(2, users // 100)) + maker.everyday("m", round(3.3 * users), _MORNING_PACE)
        ),
        maker.with_repeats(maker.campaign(), 400),
        maker.passwords("o", min(60, max(5, users // 40)), 9_000, timetable.morning_ms),
        maker.with_mishaps(maker.everyday("e", round(1.7 * users), _OUTAGE_PACE)),
        maker.sleepers(),
        maker.passwords("n", min(40, max(5, users // 60)), 3_000, timetable.night_ms),
    )


@dataclass(frozen=True)
class _Maker:
    dice: random.Random
    people: tuple[Person, ...]
    tag: str
    timetable: Timetable

    def everyday(self, mark: str, count: int, pace: float) -> list[Event]:
        """Events at an even pace, about people drawn at random; fewer people, slower."""
        made: list[Event] = []
        pace *= max(0.1, min(1.0, len(self.people) / 2_500))
        for number in range(count):
            at_ms = round(number * 1000 / pace)
            key = f"{self.tag}-{mark}-{number}"
            created_ms = self.timetable.morning_ms + at_ms
            lane, notification = everyday(self.dice, self.dice.choice(self.people), key, created_ms)
            made.append(event(at_ms, lane, notification))
        return made

    def strangers(self, count: int) -> list[Event]:
        """Events about people of whom nobody told the pipeline; half sign up and bring their number."""
        made: list[Event] = []
        for number in range(count):
            key, at_ms = f"{self.tag}-x-{number}", self.timetable.morning_ms
            unknown = Person(key, "Asia/Dhaka", "bn", (), f"+880182{number:07d}", "never_asked", None)
            if number % 2:
                lane, notification = Lane.CRITICAL, sign_up(self.dice, unknown, key, at_ms)
            else:
                lane, notification = everyday(self.dice, unknown, key, at_ms)
            made.append(event(0, lane, notification))
        return made

    def with_repeats(self, good: list[Event], latest_ms: int) -> tuple[Event, ...]:
        """Add some of them once more, a little later."""
        chosen = self.dice.sample(good, max(1, round(_REPEATED * len(good))))
        made = [*good, *(repeated(each, self.dice.randrange(20, latest_ms)) for each in chosen)]
        return tuple(sorted(made, key=lambda each: each.at_ms))

    def with_mishaps(self, good: list[Event]) -> tuple[Event, ...]:
        """Add repeats, reused keys, bad events, and give some to a client with another partitioner."""
        dice = self.dice
        made = [replace(each, by_crc32=dice.random() < _FOREIGN) for each in good]
        orders = [each for each in good if b"shipped" in each.value]
        odd = [altered(each, dice.randrange(500, 900)) for each in dice.sample(orders, 3)]
        last_ms = max(each.at_ms for each in good)
        for number in range(2):
            key, at_ms = f"{self.tag}-bad-{last_ms}-{number}", dice.randrange(last_ms + 1)
            odd += bad_events(at_ms, dice.choice(self.people), key, self.timetable.morning_ms)
        return tuple(sorted([*self.with_repeats(made, 800), *odd], key=lambda each: each.at_ms))

    def campaign(self) -> list[Event]:
        """Four offers to everybody, wave by wave."""
        return [
            self._offer(person, f"{wave}-{person.user_id}")
            for wave in range(1, _OFFERS + 1)
            for person in self.people
        ]

    def sleepers(self) -> tuple[Event, ...]:
        """One more offer to everybody, late at night."""
        return tuple(self._offer(person, f"late-{person.user_id}") for person in self.people)

    def passwords(self, mark: str, a_second: int, for_ms: int, begin_ms: int) -> tuple[Event, ...]:
        """One-time passwords at an even pace, each for another person while there are enough."""
        count = a_second * for_ms // 1000
        order = self.dice.sample(self.people, len(self.people))
        drawn = [order[number % len(order)] for number in range(count)]
        return tuple(
            event(
                at_ms := round(number * 1000 / a_second),
                Lane.CRITICAL,
                password(self.dice, person.user_id, f"{self.tag}-{mark}-{number}", begin_ms + at_ms),
            )
            for number, person in enumerate(drawn)
        )

    def _offer(self, person: Person, which: str) -> Event:
        until = (self.timetable.day + timedelta(days=6)).isoformat()
        key = f"{self.tag}-offer-{which}"
        return event(0, Lane.BULK, offer(self.dice, person.user_id, key, f"{self.tag}-offers", until))
