"""Everything that a producer can get wrong, all of it about one user."""

import time
import zlib
from collections.abc import Iterator
from contextlib import ExitStack

import msgspec
from msgspec import Struct

from connectors.kafka.client_producer import CRC32, ClientProducer, Stored
from harkara.wall_clock import WallClock
from streams.ids import partition_of
from streams.reasons import Reason
from streams.topics import INGEST, PROFILES, Lane
from tests.chaos.pipeline.poisoned import MARK

INGEST_TOPIC = INGEST[Lane.TRANSACTIONAL].full_name
GOOD = {"type": "order_shipped", "data": {"order": "BD-7781", "day": "Sunday"}}


class Bad(Struct, frozen=True):
    """A record and where it must end."""

    name: str
    reason: Reason
    topic: str
    key: bytes | None
    value: bytes
    whole: bool = False  # its bytes end in `dead-letters`; all others in `rejected`


def user_elsewhere(partitions: int) -> str:
    """Return a user whom a CRC32 client puts on a partition that is not theirs."""
    for number in range(1_000):
        user = f"bad-{number}"
        if zlib.crc32(user.encode()) % partitions != partition_of(user.encode(), partitions):
            return user
    raise AssertionError("all partitioners agree")


def bad_records(user: str) -> Iterator[Bad]:
    """Return one record of each kind."""

    def event(name: str, reason: Reason, **fields: object) -> Bad:
        body = {"user_id": user, "notification_id": name, **GOOD, **fields}
        return Bad(name, reason, INGEST_TOPIC, user.encode(), msgspec.json.encode(body))

    good = event("good", Reason.DUPLICATE)
    seconds = time.time_ns() // 1_000_000_000
    yield Bad("empty key", Reason.EMPTY_KEY, INGEST_TOPIC, None, good.value)
    yield event("unknown type", Reason.UNKNOWN_TYPE, type="order_shiped")
    yield event("missing field", Reason.MISSING_PARAMETER, data={"order": "BD-7781"})
    yield event("two megabytes", Reason.TOO_LARGE, trace="x" * (2 << 20))
    yield event("seconds", Reason.NOT_MILLISECONDS, created_at=seconds)
    yield event("somebody else", Reason.KEY_MISMATCH, user_id="somebody-else")
    yield event("", Reason.NO_IDENTITY)
    yield event("a number", Reason.INVALID_FIELD, type=7)
    yield Bad("no JSON", Reason.INVALID_JSON, INGEST_TOPIC, user.encode(), b"{")
    torn = good.value.replace(b"Sunday", b"Sunda\xff")
    yield Bad("no UTF-8", Reason.UNDECODABLE, INGEST_TOPIC, user.encode(), torn, whole=True)
    zone = {"command": "set_zone", "user_id": user, "at": seconds * 1000, "zone": "Asia/Dacca_"}
    yield Bad(
        "unknown zone", Reason.UNKNOWN_ZONE, PROFILES.full_name, user.encode(), msgspec.json.encode(zone)
    )
    poison = event(f"{MARK}-1", Reason.POISON)
    yield msgspec.structs.replace(poison, whole=True)


class Written:
    """Writes records one by one and remembers where each of them lies; a context manager."""

    def __init__(self, bootstrap: str) -> None:
        self._own = ClientProducer(bootstrap, WallClock())
        self._foreign = ClientProducer(bootstrap, WallClock(), partitioner=CRC32)
        self._open = ExitStack()
        self.places: dict[str, tuple[str, int, int]] = {}

    def __enter__(self) -> "Written":
        for producer in (self._own, self._foreign):
            self._open.enter_context(producer)
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def write(self, name: str, topic: str, key: bytes | None, value: bytes, foreign: bool = False) -> None:
        """Write a record, as a client with another partitioner if it is to be; returns when it is durable."""

        def stored(where: Stored) -> None:
            self.places[name] = (where.topic, where.partition, where.offset)

        producer = self._foreign if foreign else self._own
        producer.send(topic, key, value, stored)
        producer.flush()
