"""Provider calls a second of one sender process against the simulator, claims and events included."""

import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.crowd import write
from benchmarks.progress import Progress, sampled, steady_rate
from benchmarks.router_rate import pin, process_of
from harkara.embedded.pipeline import EmbeddedPipeline
from harkara.settings import Settings
from streams.ids import delivery_id
from streams.records.codec import to_json
from streams.records.delivery import Delivery
from streams.topics import DELIVERIES, Channel, Lane, sender_app

LANE = Lane.TRANSACTIONAL
TOPIC = DELIVERIES[Channel.PUSH, LANE]
DAY_MS = 86_400_000


def deliveries(count: int, users: int) -> Iterator[tuple[str, str, bytes]]:
    """Yield decided pushes, as a router would have written them."""
    now = time.time_ns() // 1_000_000
    for i in range(count):
        user, name = f"user-{i % users:07d}", f"s{now}-{i}"
        delivery = Delivery(
            delivery_id=delivery_id("default", user, name, 0, "push", "phone"),
            notification_id=name,
            tenant="default",
            user_id=user,
            type="order_shipped",
            category="order",
            lane=LANE,
            channel=Channel.PUSH,
            endpoint="phone",
            address=f"token-{i % users}",
            template="order_shipped",
            version=1,
            locale="en",
            data={"order": "BD-7781", "day": "Sunday"},
            cohort_at_ms=now,
            decided_at_ms=now,
            send_until_ms=now + DAY_MS,
            expires_at_ms=now + DAY_MS,
        )
        yield TOPIC.full_name, user, to_json(delivery)


def measure(folder: Path, count: int) -> dict[str, float]:
    """Queue `count` pushes, then start a sender; returns its steady rate and its cost a call."""
    settings = Settings(folder=folder)
    with EmbeddedPipeline(settings, processes={}) as pipeline:
        kafka = pipeline.addresses.kafka
        total = write(kafka, deliveries(count, 5_000))
        for status in (*pipeline.stack.status(), *pipeline.status()):
            if status.pid is not None:
                pin(status.pid, 0)
        pipeline.join("sender", "sender", "--channel", Channel.PUSH, "--lane", LANE)
        process = process_of(pipeline, "sender")
        pin(process.pid, 1)
        sent = Progress(kafka, sender_app(Channel.PUSH, LANE), [TOPIC.full_name], settings.partitions)
        sampled(lambda: min(1, sent.done()), 1)
        begun, before = process.cpu_times(), sent.done()
        samples = sampled(sent.done, total)
        ended = process.cpu_times()
        used_s = ended.user + ended.system - begun.user - begun.system
        return {
            "calls_per_s": round(steady_rate(samples, total)),
            "cpu_us_per_call": round(used_s / max(1, total - before) * 1e6, 1),
        }
