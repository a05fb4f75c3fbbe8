"""The users and events of the benchmarks: seeded, so that every run has the same."""

import random
import time
from collections.abc import Iterator

import msgspec
from confluent_kafka import Producer

from streams.topics import INGEST, PROFILES, Lane

_encode = msgspec.json.Encoder().encode
#: Type, lane, data and its share of the events.
_KINDS = (
    ("otp", Lane.CRITICAL, {"code": "482913"}, 10),
    ("security_alert", Lane.CRITICAL, {"event": "new_login", "device": "Pixel 9, Dhaka"}, 5),
    ("order_shipped", Lane.TRANSACTIONAL, {"order": "BD-7781", "day": "Sunday"}, 30),
    ("payment_received", Lane.TRANSACTIONAL, {"amount": "500", "sender": "Nusrat"}, 25),
    ("weekly_offer", Lane.BULK, {"percent": 30, "until": "2027-03-20"}, 30),
)


def producer(kafka: str) -> Producer:
    """Return a producer that partitions as every producer of harkara must."""
    return Producer(
        {
            "bootstrap.servers": kafka,
            "partitioner": "murmur2_random",
            "acks": "all",
            "enable.idempotence": True,
            "linger.ms": 5,
            "compression.type": "lz4",
            "queue.buffering.max.messages": 500_000,
            "log_level": 2,
        }
    )


def commands(users: int) -> Iterator[tuple[str, str, bytes]]:
    """Yield topic, key and value of what makes these users known: a phone, a device, a consent."""
    at = time.time_ns() // 1_000_000
    for i in range(users):
        user = f"user-{i:07d}"
        for command in (
            {"command": "set_contact", "channel": "sms", "address": f"+8801711{i:06d}", "verified": True},
            {"command": "register_device", "device_id": f"device-{i}", "token": f"token-{i:07d}"},
            {"command": "consent", "category": "marketing", "given": i % 10 != 0},
        ):
            yield PROFILES.full_name, user, _encode({"user_id": user, "at": at, **command})


def events(count: int, users: int, tag: str, seed: int = 7) -> Iterator[tuple[str, str, bytes]]:
    """Yield topic, key and value of events; half of them of few busy users, 4 % repeats."""
    dice = random.Random(seed)
    at = time.time_ns() // 1_000_000
    weights = [share for *_, share in _KINDS]
    past: list[tuple[str, str, bytes]] = []
    for i, (kind, lane, data, _) in enumerate(dice.choices(_KINDS, weights, k=count)):
        if past and dice.random() < 0.04:
            yield dice.choice(past)
            continue
        user = f"user-{int(users * dice.random() ** (3 if dice.random() < 0.5 else 1)):07d}"
        body = {
            "user_id": user,
            "type": kind,
            "data": data,
            "notification_id": f"{tag}-{i}",
            "created_at": at,
        }
        event = (INGEST[lane].full_name, user, _encode(body))
        past.append(event)
        del past[:-5_000]
        yield event


def write(kafka: str, records: Iterator[tuple[str, str, bytes]]) -> int:
    """Write records as fast as Kafka takes them; returns how many, once all are durable."""
    out, written = producer(kafka), 0
    for topic, key, value in records:
        while True:
            try:
                out.produce(topic, value, key)
                break
            except BufferError:
                out.poll(0.05)
        written += 1
        if written % 1_000 == 0:
            out.poll(0)
    out.flush()
    return written
