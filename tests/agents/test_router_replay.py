"""However a crash cuts the writes, a replay repeats the recorded decisions and counts nothing twice."""

import random
from collections import Counter, defaultdict

import msgspec
import pytest
from aiokafka import ConsumerRecord

from harkara.testing import RecordingTransport
from streams.catalog import Catalog
from streams.clock import FixedClock
from streams.topics import DELIVERY_EVENTS, INGEST, Lane
from tests.agents.conftest import know
from tests.agents.feeding import ingest, record

NOON_DHAKA_MS = 1_790_056_800_000
USERS = 4


def offers(seed: int, count: int = 30) -> list[ConsumerRecord]:
    """Events of a few users: offers over their cap, orders, repeats, reused keys, unfit ones."""
    dice = random.Random(seed)
    topic = INGEST[Lane.TRANSACTIONAL]
    records: list[ConsumerRecord] = []
    bodies: list[tuple[str, dict[str, object]]] = []
    for offset in range(count):
        user = f"u{dice.randrange(USERS)}"
        choice = dice.random()
        if choice < 0.15 and bodies:
            user, body = dice.choice(bodies)
        elif choice < 0.2 and bodies:
            user, body = dice.choice(bodies)
            body = body | {"data": {"percent": 99, "until": "2027-01-01"}, "type": "weekly_offer"}
        elif choice < 0.25:
            body = {"user_id": user, "type": "no_such_type", "data": {}, "notification_id": f"n{offset}"}
        elif choice < 0.7:
            data = {"percent": 30, "until": "2026-12-20"}
            body = {"user_id": user, "type": "weekly_offer", "data": data, "notification_id": f"n{offset}"}
        else:
            data = {"order": f"BD-{offset}", "day": "Sunday"}
            body = {"user_id": user, "type": "order_shipped", "data": data, "notification_id": f"n{offset}"}
        bodies.append((user, body))
        records.append(record(topic, offset, user, body))
    return records


def outputs(transport: RecordingTransport) -> Counter[tuple[str, bytes | None, bytes | None]]:
    return Counter(transport.outputs)


@pytest.mark.parametrize("seed", range(2))
def test_a_crash_at_any_record_changes_no_decision(catalog: Catalog, seed: int) -> None:
    """Every prefix of the changelog, then a replay: the same outputs as without a crash."""
    records, clock = offers(seed), FixedClock(NOON_DHAKA_MS)
    reference = RecordingTransport()
    know(reference, USERS)
    assert ingest(reference, catalog, clock, records)
    changes = len(reference.changelog["user-state", 0])
    assert changes > 20
    for durable in range(0, changes + 1, 2):
        transport = RecordingTransport()
        know(transport, USERS)
        transport.crash_after(durable, outputs=seed)
        while not ingest(transport, catalog, clock, records):
            pass
        assert set(transport.outputs) == set(reference.outputs), f"after {durable} records"


@pytest.mark.parametrize("seed", range(2))
def test_a_replay_at_another_hour_repeats_what_was_acted_on(catalog: Catalog, seed: int) -> None:
    """A decision that left the process is told again word for word, however late it is replayed."""
    records = offers(seed)
    for durable in range(3, 60, 4):
        clock = FixedClock(NOON_DHAKA_MS)
        transport = RecordingTransport()
        know(transport, USERS)
        transport.crash_after(durable, outputs=5)
        while not ingest(transport, catalog, clock, records):
            clock.advance(3_600_000)
        said: dict[str, set[bytes]] = defaultdict(set)
        for topic, key, value in transport.outputs:
            if topic == DELIVERY_EVENTS.full_name and key is not None and value is not None:
                event = msgspec.json.decode(value)
                if event["status"] == "duplicate":
                    del event["occurred_at_ms"]  # only when it was noticed may differ
                said[key.decode()].add(msgspec.json.encode(event))
        assert all(len(words) == 1 for words in said.values())


def test_the_cap_holds_through_any_crash(catalog: Catalog) -> None:
    """Three offers a user and day are delivered, never a fourth, wherever the process crashed."""
    records = offers(5, 60)
    for durable in range(0, 90, 3):
        transport = RecordingTransport()
        know(transport, USERS)
        transport.crash_after(durable)
        while not ingest(transport, catalog, FixedClock(NOON_DHAKA_MS), records):
            pass
        sent: dict[str, set[str]] = defaultdict(set)
        for topic, _, value in transport.outputs:
            if topic.startswith("harkara.deliveries.push.bulk") and value is not None:
                delivery = msgspec.json.decode(value)
                sent[delivery["user_id"]].add(delivery["delivery_id"])
        assert sent
        assert all(len(deliveries) <= 3 for deliveries in sent.values())
