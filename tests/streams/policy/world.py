"""A small service to decide for: its catalog, users, and short ways to ask for decisions."""

from collections.abc import Sequence
from datetime import datetime
from functools import cache
from typing import Any

import msgspec

from streams.catalog import Catalog, load
from streams.ids import partition_of
from streams.policy.admission import read_request
from streams.policy.decide import UserFacts, decide
from streams.policy.freshness import Freshness
from streams.policy.request import Request
from streams.records.decision import Decision, Reservation
from streams.records.state import Contact, Device, Profile, Reservations
from streams.records.unfit import Foreign, Unfit
from streams.topics import INGEST, Lane

PARTITIONS = 4
FRESHNESS = Freshness()
NUMBER = "+8801712345678"
HOUR, DAY = 3_600_000, 86_400_000
TOPIC = INGEST[Lane.TRANSACTIONAL]


def at(text: str) -> int:
    """Return the instant, in ms, of an ISO time with an offset."""
    moment = datetime.fromisoformat(text)
    assert moment.tzinfo is not None
    return round(moment.timestamp() * 1000)


NOON = at("2026-06-01T06:00:00Z")  # in Dhaka

FILES = {
    "defaults.yaml": "locale: en\nproviders: {push: [fcm], sms: [twilio]}",
    "tenants.yaml": "default: {zone: Asia/Dhaka, locale: bn}",
    "categories.yaml": """
security: {}
order: {}
marketing: {marketing: true}
news: {marketing: true, needs_consent: false, caps: [{limit: 2, per: 7d}, {limit: 4, over: all}]}
""",
}
_TYPES = {
    "otp": "category: security\nlane: critical\nmandatory: true\ndirect: true\npurpose: login\nttl: 5m\n"
    "channels: [sms, push]\nunknown: resend\nretry: fast",
    "order": "category: order\nlane: transactional\nttl: 3d\nchannels: [push, sms]",
    "offer": "category: marketing\nlane: bulk\nttl: 2d\nchannels: [push]",
    "sale": "category: marketing\nlane: bulk\nttl: 2d\nchannels: [push, sms]\nsame_template: 6h",
    "tip": "category: marketing\nlane: bulk\nttl: 2d\nchannels: [push]\nquiet_hours: drop\ncapped: false",
    "letter": "category: news\nlane: bulk\nttl: 20d\nchannels: [push]\nquiet_hours: ignore",
    "invite": "category: marketing\nlane: bulk\ndirect: true\nttl: 2d\nchannels: [sms]",
    "gone": "category: order\nlane: transactional\nttl: 3d\nchannels: [push]\nretired: true",
}


@cache
def catalog() -> Catalog:
    """Return the service's catalog."""
    files = dict(FILES)
    for name, text in _TYPES.items():
        files[f"types/{name}/type.yaml"] = text
        files[f"types/{name}/v1.en.yaml"] = "push: {title: t, body: b}\nsms: {body: b}"
    loaded = load(files)
    assert isinstance(loaded, Catalog), loaded
    return loaded


def read(event: dict[str, Any] | bytes, *, key: bytes = b"u1", **record: Any) -> Request | Unfit | Foreign:
    """Read an event as if it lay on its user's partition."""
    value = event if isinstance(event, bytes) else msgspec.json.encode(event)
    given: dict[str, Any] = {
        "partition": partition_of(key, PARTITIONS),
        "offset": 7,
        "headers": None,
    } | record
    return read_request(
        TOPIC,
        PARTITIONS,
        key,
        value,
        given["partition"],
        given["offset"],
        given["headers"],
        catalog(),
        "default",
    )


def event(kind: str = "order", **more: Any) -> dict[str, Any]:
    """Return an event of user u1."""
    return {"user_id": "u1", "type": kind, "data": {}, "notification_id": "n1"} | more


def request(kind: str = "order", **more: Any) -> Request:
    """Return a request of user u1 (or another)."""
    made = event(kind, **more)
    found = read(made, key=made["user_id"].encode())
    assert isinstance(found, Request), found
    return found


def phone(name: str = "phone", zone: str = "", *, active: bool = True) -> Device:
    """Return a device."""
    return Device(name, f"token-{name}", "android", zone, NOON, active)


def user(zone: str = "", *, devices: Sequence[Device] | None = None, **more: Any) -> Profile:
    """Return someone with one phone, one number and consent to marketing."""
    given: dict[str, Any] = {
        "devices": (phone(),) if devices is None else tuple(devices),
        "contacts": (Contact("sms", NUMBER, True),),
        "consents": {"marketing": True},
    }
    fields: dict[str, Any] = {"zone": zone, "applied": 1} | given | more
    return Profile(**fields)


def facts(profile: Profile | None, held: Sequence[Reservation] = ()) -> UserFacts:
    """Return what is known of a user."""
    return UserFacts(profile, Reservations(tuple(held)))


def decided(
    wanted: Request, profile: Profile | None, now_ms: int, held: Sequence[Reservation] = ()
) -> list[Decision]:
    """Decide about a new event."""
    return list(decide(wanted, facts(profile, held), catalog(), FRESHNESS, now_ms))


def one(wanted: Request, profile: Profile | None, now_ms: int, held: Sequence[Reservation] = ()) -> Decision:
    """Decide about a new event that makes one delivery."""
    (decision,) = decided(wanted, profile, now_ms, held)
    return decision


def place(notification: str, at_ms: int, kind: str = "offer", delivery: str = "") -> Reservation:
    """Return a place that another notification holds."""
    found = catalog().types[kind]
    return Reservation(
        notification,
        delivery or f"{notification}-d",
        found.category,
        "push",
        found.template,
        at_ms,
        at_ms + found.holds_ms,
    )
