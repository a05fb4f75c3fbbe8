"""Decisions a second of the product's router on one core, with its real rules and the demo's catalog."""

import os
import time
from pathlib import Path

import psutil

from benchmarks.crowd import commands, events, write
from benchmarks.progress import Progress, sampled, steady_rate
from harkara.embedded.pipeline import EmbeddedPipeline
from harkara.settings import Settings
from streams.topics import DELIVERY_EVENTS, INGEST, PROFILES, ROUTER_APP

USERS = 20_000


def pin(pid: int, core: int) -> None:
    """Keep a process and its threads on one core, where the system can."""
    process = psutil.Process(pid)
    if hasattr(process, "cpu_affinity") and (os.cpu_count() or 1) > 1:
        for thread in process.threads():
            psutil.Process(thread.id).cpu_affinity([core])
        process.cpu_affinity([core])


def process_of(pipeline: EmbeddedPipeline, name: str) -> psutil.Process:
    """Return a role's process, once it has begun."""
    while True:
        for status in pipeline.status():
            if status.name == name and status.pid is not None:
                return psutil.Process(status.pid)
        time.sleep(0.02)


def measure(folder: Path, count: int) -> dict[str, float]:
    """Load `count` events, then start the router; returns its steady rate and its cost an event."""
    settings = Settings(folder=folder)
    with EmbeddedPipeline(settings, processes={}) as pipeline:
        kafka = pipeline.addresses.kafka
        known = write(kafka, commands(USERS))
        total = write(kafka, events(count, USERS, f"r{time.time_ns()}"))
        for status in pipeline.stack.status():
            if status.pid is not None:
                pin(status.pid, 0)
        ingest = Progress(
            kafka, ROUTER_APP, [topic.full_name for topic in INGEST.values()], settings.partitions
        )
        profiles = Progress(kafka, ROUTER_APP, [PROFILES.full_name], settings.partitions)
        pipeline.join("router", "router")
        process = process_of(pipeline, "router")
        pin(process.pid, 1)
        sampled(profiles.done, known)
        begun = process.cpu_times()
        before = ingest.done()
        samples = sampled(ingest.done, total)
        ended = process.cpu_times()
        used_s = ended.user + ended.system - begun.user - begun.system
        facts = Progress(kafka, ROUTER_APP, [DELIVERY_EVENTS.full_name], settings.partitions).ends()
        rate = steady_rate(samples, total)
        return {
            "events_per_s": round(rate),
            "decisions_per_s": round(rate * facts / total),  # each decision and each repeat is one fact
            "cpu_us_per_event": round(used_s / max(1, total - before) * 1e6, 1),
            "rss_mb": process.memory_info().rss // 2**20,
        }
