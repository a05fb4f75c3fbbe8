"""A router without local state: from its start until everything is restored and it reads again."""

import shutil
import time
from pathlib import Path

from benchmarks.crowd import commands, events, write
from benchmarks.progress import Progress, sampled
from harkara.embedded.pipeline import EmbeddedPipeline
from harkara.settings import Settings
from streams.topics import INGEST, PREFERENCES, ROUTER_APP, USER_STATE, changelog

USERS = 20_000


def measure(folder: Path, records: int) -> dict[str, float]:
    """Fill the changelogs with at least `records` records, delete the local state, start cold."""
    settings = Settings(folder=folder)
    with EmbeddedPipeline(settings, processes={"router": "router"}) as pipeline:
        kafka = pipeline.addresses.kafka
        write(kafka, commands(USERS))
        tables = [changelog(ROUTER_APP, USER_STATE), changelog(ROUTER_APP, PREFERENCES)]
        logs = Progress(kafka, ROUTER_APP, tables, settings.partitions)
        lanes = [topic.full_name for topic in INGEST.values()]
        ingest = Progress(kafka, ROUTER_APP, lanes, settings.partitions)
        while logs.ends() < records:
            write(kafka, events(records // 2, USERS, f"c{time.time_ns()}"))
            sampled(ingest.done, ingest.ends())
        pipeline.halt("router")
        shutil.rmtree(folder / "state")
        begun = time.monotonic()
        pipeline.resume("router")
        pipeline.wait("router")
        return {"records": logs.ends(), "seconds": round(time.monotonic() - begun, 2)}
