"""A role that counts, for the tests of the transport: replay-safe state, and proof in every output.

Run as `python counting_app.py SETTINGS`, where SETTINGS is a `Counting` as JSON. Of each record it
counts its user's records of that topic, and says so in `Counted`; a topic that is somebody's gate
flags users instead.
"""

import sys
import time
from pathlib import Path

import msgspec

from connectors.kafka.app import AppSettings, BlockApp, Blocks
from connectors.kafka.block import Block, Writes
from connectors.kafka.plan import ReadPlan
from connectors.kafka.producer import BlockProducer, ProducerSettings
from connectors.telemetry import Telemetry
from harkara.logs import configure
from harkara.worker import Role, run
from streams.topics import Topic

TABLE = "counts"
#: A record with this key makes the role emit something larger than its producer takes.
OVERSIZE = b"oversize"


class Reads(msgspec.Struct, frozen=True):
    """One topic that is read; its number is 900 or more."""

    number: int
    name: str
    rank: int = 0
    gate: str | None = None
    gapless: bool = False

    @property
    def topic(self) -> Topic:
        return Topic(self.number, self.name, "user", "anything", None, by_user=True)


class Counting(msgspec.Struct, frozen=True):
    """What a test may set."""

    name: str
    kafka: str
    folder: str
    status_port: int
    reads: tuple[Reads, ...]
    partitions: int = 4
    session_ms: int = 6_000
    message_timeout_ms: int = 2_500
    commit_interval_ms: int = 200
    block_records: int = 500
    record_us: int = 0  # what deciding a record costs, at least
    queue_records: int = 200_000
    stale_after_ms: int = 3 * 86_400_000
    instance: str | None = None

    @property
    def app(self) -> str:
        return f"{self.name}-app"

    @property
    def out(self) -> Topic:
        return Topic(999, f"{self.name}-out", "user", "counted", None, by_user=True)


class Counted(msgspec.Struct, frozen=True, array_like=True):
    """What became of one record."""

    topic: int
    offset: int
    count: int
    flagged: bool
    block: int  # how many blocks the process had decided before


def user_row(topic: int, user: bytes) -> bytes:
    return b"u|%d|%s" % (topic, user)


class Counter:
    """Counts once per source record, however often Kafka hands it over."""

    def __init__(self, settings: Counting, app: BlockApp) -> None:
        self._settings = settings
        self._app = app
        self._numbers = {reads.topic.full_name: reads.number for reads in settings.reads}
        self.blocks = 0

    async def count(self, blocks: Blocks) -> None:
        async for block in blocks.noack():
            if self._app.transport.current(block):
                await self._app.transport.finish(block, self._counted(block))

    async def flag(self, blocks: Blocks) -> None:
        async for block in blocks.noack():
            if self._app.transport.current(block):
                writes = Writes(block.partition)
                for record in block:
                    writes.put(TABLE, b"f|" + (record.key or b""), b"1")
                self._spend(block)
                await self._app.transport.finish(block, writes)

    def _counted(self, block: Block) -> Writes:
        writes, number = Writes(block.partition), self._numbers[block.topic]
        view = self._app.transport.view(TABLE, block.partition)
        counts: dict[bytes, int] = {}
        for record in block:
            user, row = record.key or b"", b"o|%d|%d" % (number, record.offset)
            before = counts.get(user)
            if before is None:
                before = int(view.get(user_row(number, user)) or 0)
            seen = view.get(row)
            count = before + 1 if seen is None else int(seen)
            counts[user] = max(before, count)
            writes.put(TABLE, row, b"%d" % count)
            flagged = view.get(b"f|" + user) is not None
            proof = msgspec.json.encode(Counted(number, record.offset, count, flagged, self.blocks))
            writes.emit(self._settings.out, user, proof if user != OVERSIZE else b"x" * (5 << 20))
        for user, count in counts.items():  # after the rows of the offsets: a restore is a prefix
            writes.put(TABLE, user_row(number, user), b"%d" % count)
        self._spend(block)
        self.blocks += 1
        return writes

    def _spend(self, block: Block) -> None:
        end = time.perf_counter() + len(block) * self._settings.record_us / 1e6
        while time.perf_counter() < end:
            pass


def build(settings: Counting) -> Role:
    plan = ReadPlan(
        {reads.topic.full_name: reads.rank for reads in settings.reads},
        {reads.topic.full_name: f"harkara.{reads.gate}" for reads in settings.reads if reads.gate},
        frozenset(reads.topic.full_name for reads in settings.reads if reads.gapless),
        settings.block_records,
    )
    producer = BlockProducer(
        ProducerSettings(
            settings.kafka,
            settings.app,
            message_timeout_ms=settings.message_timeout_ms,
            queue_records=settings.queue_records,
        )
    )
    app = BlockApp(
        AppSettings(
            settings.app,
            settings.kafka,
            Path(settings.folder),
            settings.partitions,
            settings.session_ms,
            settings.commit_interval_ms,
            settings.instance,
            settings.stale_after_ms,
        ),
        plan,
        (TABLE,),
        producer,
    )
    counter = Counter(settings, app)
    gates = {reads.gate for reads in settings.reads}
    for reads in settings.reads:
        app.agent(reads.topic, reads.name, counter.flag if reads.name in gates else counter.count)

    def facts() -> dict[str, int]:
        return {
            "blocks": counter.blocks,
            "restored": app.tables[TABLE].restored,
            "in_flight": producer.in_flight,
            "rebalances": app.faust.rebalancing_count,
        }

    return Role("counting", [app], Telemetry(), facts=facts)


if __name__ == "__main__":
    configure("counting", "info", "json")
    told = msgspec.json.decode(sys.argv[1], type=Counting)
    run(told.kafka, lambda: build(told), told.status_port)
