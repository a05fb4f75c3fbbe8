"""From the producer's hand to the provider's door at a low, steady rate, through the whole pipeline."""

import asyncio
import time
from pathlib import Path

from benchmarks.crowd import commands, producer, write
from connectors.simulator.client import SimulatorClient
from harkara.embedded.pipeline import EmbeddedPipeline
from harkara.settings import Settings
from streams.ids import delivery_id
from streams.policy.endpoints import CONTACT
from streams.records.codec import to_json
from streams.records.notification import Notification
from streams.topics import INGEST, Lane

USERS = 500
WARM_UP_S = 3.0


def measure(folder: Path, rate: int, seconds: float) -> dict[str, float]:
    """Write `rate` one-time passwords a second; returns percentiles in ms of wall time."""
    with EmbeddedPipeline(Settings(folder=folder)) as pipeline:
        kafka = pipeline.addresses.kafka
        write(kafka, commands(USERS))
        handed = _write_steadily(kafka, rate, WARM_UP_S + seconds)
        warm = min(handed.values()) + WARM_UP_S * 1000
        arrived = asyncio.run(_arrivals(pipeline.simulator(), len(handed)))
    waits = sorted(arrived[one] - at for one, at in handed.items() if one in arrived and at >= warm)
    return {
        "events": len(waits),
        "missing": len(handed.keys() - arrived.keys()),
        "p50_ms": _percentile(waits, 0.5),
        "p99_ms": _percentile(waits, 0.99),
        "max_ms": round(waits[-1], 1),
    }


def _write_steadily(kafka: str, rate: int, seconds: float) -> dict[str, float]:
    """Write at an even pace, whatever the pipeline does; returns when each delivery's event was written."""
    out, handed = producer(kafka), {}
    tag, begun, count = f"l{time.time_ns()}", time.monotonic(), 0
    while (passed := time.monotonic() - begun) < seconds:
        while count < passed * rate:
            number = count % USERS
            user, name = f"user-{number:07d}", f"{tag}-{count}"
            event = Notification(user, "otp", {"code": "482913"}, notification_id=name)
            handed[delivery_id("default", user, name, 0, "sms", CONTACT)] = time.time() * 1000
            out.produce(INGEST[Lane.CRITICAL].full_name, to_json(event), user)
            count += 1
        out.poll(0)
        time.sleep(0.001)
    out.flush()
    return handed


async def _arrivals(client: SimulatorClient, expected: int) -> dict[str, float]:
    """Return when each text arrived, once all have (or nothing comes any more)."""
    async with client as simulator:
        before = -1
        while (now := (await simulator.stats()).ledger.deliveries) < 2 * expected and now != before:
            before = now
            await asyncio.sleep(1.0)
        texts = simulator.entries(provider="twilio", accepted=True)
        return {entry.delivery_id: float(entry.at_ms) async for entry in texts}


def _percentile(ordered: list[float], share: float) -> float:
    return round(ordered[min(len(ordered) - 1, int(len(ordered) * share))], 1)
