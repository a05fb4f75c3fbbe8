"""What is written in the flow: seeded events whose right decisions follow from the topics alone."""

import itertools
import random
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from harkara.chaos.people import Kind, Person, opt_out, people
from streams.records.codec import to_json
from streams.records.notification import Notification
from streams.topics import INGEST, PROFILES, Lane

#: `source` of an event that is written after its user's opt-out is durable.
AFTER_OPT_OUT = "chaos after opt-out"
FLOW = "chaos"

_REPEATS = 0.05
_REUSED_KEYS = 0.01
_FOREIGN = 0.03
_LATER = 0.03
_LEAVING = 400  # the last one leaves before this step
_STRANGERS = 100  # strangers are written of only before this step: their profile is waited for 10 s
_OFFER: dict[str, Any] = {"percent": 30, "until": "2027-03-20"}


class Step(Struct, frozen=True):
    """One record of the flow, in its order."""

    topic: str
    key: bytes
    value: bytes
    by_crc32: bool = False  # a client that puts users on other partitions
    alone: bool = False  # nothing is written until it is durable


class Load(Struct, frozen=True):
    """People to be introduced first, then steps without end, to be written at a steady rate."""

    people: tuple[Person, ...]
    steps: Iterator[Step]


def load(seed: int, tag: str, users: int, now_ms: int) -> Load:
    """Return the load of a seed; `tag` makes its users and ids its own."""
    dice = random.Random(f"{seed} {tag}")  # noqa: S311 - a seeded stream, guards nothing
    crowd = people(dice, tag, users, now_ms)
    return Load(crowd, _steps(dice, tag, crowd, now_ms))


def _steps(dice: random.Random, tag: str, crowd: tuple[Person, ...], now_ms: int) -> Iterator[Step]:
    left = {person.user_id for person in crowd if person.kind is Kind.OPTED_OUT}
    leaving = [person.user_id for person in crowd if person.kind is Kind.LEAVES]
    leaves_at = {dice.randrange(_LEAVING): user for user in leaving}
    past: list[Step] = []
    for number in itertools.count():
        if (user := leaves_at.get(number)) is not None:
            yield Step(PROFILES.full_name, user.encode(), opt_out(user, now_ms), alone=True)
            left.add(user)
        if past and dice.random() < _REPEATS:
            yield dice.choice(past)
            continue
        person = _person(dice, crowd, number)
        step = _event(dice, person, f"{tag}-{number}", now_ms, person.user_id in left)
        if past and dice.random() < _REUSED_KEYS:
            step = _reused(dice.choice(past))
        past.append(step)
        yield step


def _person(dice: random.Random, crowd: tuple[Person, ...], number: int) -> Person:
    """Return whom the next event is about; some hear more than others."""
    person = crowd[int(len(crowd) * dice.random() ** 1.5)]
    while person.kind is Kind.STRANGER and number > _STRANGERS:
        person = dice.choice(crowd)
    return person


def _event(dice: random.Random, person: Person, own: str, now_ms: int, has_left: bool) -> Step:
    drawn = dice.random()
    data: dict[str, Any]
    if drawn < 0.12:
        kind, lane, data = "otp", Lane.CRITICAL, {"code": f"{dice.randrange(100_000, 1_000_000)}"}
    elif drawn < 0.18:
        kind, lane, data = "security_alert", Lane.CRITICAL, {"event": "new_login", "device": "Pixel 9"}
    elif drawn < 0.42:
        kind, lane, data = "order_shipped", Lane.TRANSACTIONAL, {"order": own[-32:], "day": "Sunday"}
    elif drawn < 0.6:
        kind, lane, data = "payment_received", Lane.TRANSACTIONAL, {"amount": "500", "sender": "Nusrat"}
    else:
        kind, lane, data = "weekly_offer", Lane.BULK, _OFFER
    is_later = kind == "order_shipped" and dice.random() < _LATER / 0.24
    notification = Notification(
        user_id=person.user_id,
        type=kind,
        data=data,
        notification_id=own if dice.random() < 0.5 else "",
        idempotency_key=f"key-{own}",
        send_at=now_ms + dice.randrange(2_000, 8_000) if is_later else None,
        address={"sms": "+8801711999999"} if kind == "otp" and person.kind is Kind.STRANGER else None,
        source=AFTER_OPT_OUT if has_left else FLOW,
    )
    topic = INGEST[lane].full_name
    return Step(topic, person.user_id.encode(), to_json(notification), by_crc32=dice.random() < _FOREIGN)


def _reused(step: Step) -> Step:
    """Return the step with another body under the same key."""
    return Step(step.topic, step.key, step.value.replace(b'"data":{', b'"locale":"en","data":{', 1))
