"""What a decision costs: printed for people (`pytest -s`), never asserted."""

import sys
import time
from pathlib import Path
from typing import Any

import msgspec

from connectors.catalog_files import read_catalog
from streams.ids import partition_of
from streams.policy.admission import read_request
from streams.policy.caps import settle
from streams.policy.decide import decide
from streams.policy.delivering import delivery_of
from streams.policy.request import Request
from streams.records.decision import Deliver
from streams.topics import INGEST, Lane
from tests.streams.policy.world import FRESHNESS, NOON, facts, user

EVENTS = 3_000
MIX: tuple[tuple[str, dict[str, Any]], ...] = (
    ("otp", {"code": "482913"}),
    ("order_shipped", {"order": "BD-7781", "day": "Sunday"}),
    ("weekly_offer", {"percent": 30, "until": "2026-06-05"}),
)


def test_what_a_decision_costs() -> None:
    """A mix of codes, orders and offers, with one phone and one number a user; all of it is delivered."""
    catalog = read_catalog(Path(__file__).parents[3] / "catalog")
    records = []
    for n in range(EVENTS):
        kind, data = MIX[n % len(MIX)]
        key = f"user-{n % 1_000}".encode()
        event = {"user_id": key.decode(), "type": kind, "data": data, "notification_id": f"n-{n:010}"}
        records.append((key, msgspec.json.encode(event), partition_of(key, 96), n))
    reader = facts(user("Asia/Dhaka"))
    began = time.process_time()
    requests = [
        read_request(INGEST[Lane.BULK], 96, key, value, home, n, None, catalog, "default")
        for key, value, home, n in records
    ]
    was_read = time.process_time()
    fit = [request for request in requests if isinstance(request, Request)]
    decided = [decide(request, reader, catalog, FRESHNESS, NOON) for request in fit]
    was_decided = time.process_time()
    for request, decisions in zip(fit, decided, strict=True):
        settle(reader.reservations, request, decisions, NOON)
        for decision in decisions:
            delivery_of(request, decision, NOON)
    ended = time.process_time()
    spans = {
        "read": was_read - began,
        "decide": was_decided - was_read,
        "settle and build": ended - was_decided,
    }
    told = ", ".join(f"{name} {span / EVENTS * 1e6:.1f} µs" for name, span in spans.items())
    sys.stderr.write(f"\none event: {told}\n")
    assert len(fit) == EVENTS
    assert all(isinstance(decision, Deliver) for decisions in decided for decision in decisions)
