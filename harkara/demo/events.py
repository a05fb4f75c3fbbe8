"""The events of the demo as bytes on their way: good ones by type, repeats, and bad ones of each kind."""

import random
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from harkara.demo.people import Person
from streams.records.codec import to_json
from streams.records.notification import Notification
from streams.topics import INGEST, Lane

_DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday")
_SENDERS = ("Nusrat", "Rahim", "Ayesha", "Tanvir", "Farhana")
_OCCASIONS = ("new_login", "password_changed", "phone_changed")


class Event(Struct, frozen=True):
    """One record to be written `at_ms` after its scene began."""

    at_ms: int
    topic: str
    key: bytes | None
    value: bytes
    kind: str = "event"  # "event", "repeat", or what is wrong with it
    by_crc32: bool = False  # written by a client that partitions otherwise
    user_id: str = ""
    notification_id: str = ""  # "" where the pipeline derives it from the key


def event(at_ms: int, lane: Lane, notification: Notification) -> Event:
    """Return a good event, keyed as it should be."""
    return Event(
        at_ms,
        INGEST[lane].full_name,
        notification.user_id.encode(),
        to_json(notification),
        user_id=notification.user_id,
        notification_id=notification.notification_id,
    )


def everyday(dice: random.Random, person: Person, key: str, created_ms: int) -> tuple[Lane, Notification]:
    """Return an order that was shipped, money that came, or now and then a warning."""
    drawn = dice.random()
    data: dict[str, Any]
    if drawn < 0.55:
        type_name, lane = "order_shipped", Lane.TRANSACTIONAL
        data = {"order": f"BD-{dice.randrange(1_000, 10_000)}", "day": dice.choice(_DAYS)}
    elif drawn < 0.97:
        type_name, lane = "payment_received", Lane.TRANSACTIONAL
        data = {"amount": str(dice.randrange(50, 20_000)), "sender": dice.choice(_SENDERS)}
    else:
        type_name, lane = "security_alert", Lane.CRITICAL
        data = {"event": dice.choice(_OCCASIONS), "device": "Pixel 9, Dhaka"}
    notification = Notification(
        user_id=person.user_id,
        type=type_name,
        data=data,
        idempotency_key=key,
        created_at=created_ms,
        channels=_channels(dice, person),
        source="shop",
    )
    return lane, notification


def offer(dice: random.Random, user_id: str, key: str, campaign: str, until: str) -> Notification:
    """Return the week's offer."""
    data = {"percent": dice.choice((10, 15, 20, 30)), "until": until}
    return Notification(
        user_id=user_id,
        type="weekly_offer",
        data=data,
        idempotency_key=key,
        campaign_id=campaign,
        source="campaign",
    )


def password(dice: random.Random, user_id: str, notification_id: str, created_ms: int) -> Notification:
    """Return a one-time password for a login."""
    return Notification(
        user_id=user_id,
        type="otp",
        data={"code": f"{dice.randrange(100_000, 1_000_000)}"},
        notification_id=notification_id,
        created_at=created_ms,
        source="login",
    )


def sign_up(dice: random.Random, person: Person, notification_id: str, created_ms: int) -> Notification:
    """Return a one-time password for somebody who has no profile yet and brings a verified number."""
    code = password(dice, person.user_id, notification_id, created_ms)
    return replace(code, address={"sms": person.number})


def repeated(first: Event, later_ms: int) -> Event:
    """Return the same event again, as a producer sends it that got no answer."""
    return replace(first, at_ms=first.at_ms + later_ms, kind="repeat", by_crc32=False)


def altered(first: Event, later_ms: int) -> Event:
    """Return another body under the key of the first, an order."""
    body = msgspec.json.decode(first.value)
    body["data"]["day"] = "another day"
    return replace(repeated(first, later_ms), value=msgspec.json.encode(body), kind="key_reused")


def _channels(dice: random.Random, person: Person) -> tuple[str, ...] | None:
    """Return the channels a shop would name: mostly the app where there is one."""
    if not person.tokens:
        return ("sms",)
    drawn = dice.random()
    return ("push",) if drawn < 0.75 else ("sms",) if drawn < 0.93 else None
