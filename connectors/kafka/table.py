"""A Faust table of raw bytes: Faust assigns and restores it, the transport writes it."""

import shutil
import time
from collections import defaultdict
from collections.abc import Iterable
from typing import Any, cast

import faust
import structlog
from faust.events import Event
from faust.tables.table import Table
from faust.types.tuples import TP
from rocksdict import WriteBatch

from connectors.kafka.block import Block
from connectors.kafka.exits import leave_for
from connectors.kafka.view import OFFSET_KEY, OWNED_KEY, View
from streams.topics import CHANGELOG_DELETE_RETENTION_MS

log = structlog.get_logger(__name__)

#: Blocks of changelog records written to a store at once; stock Faust would hold a thousand.
_RECOVERY_BLOCKS = 8
#: Small memory per partition: tables x partitions of these live in one process.
_STORE_OPTIONS = {"write_buffer_size": 8 << 20, "max_write_buffer_number": 3, "block_cache_size": 16 << 20}


class BlockSchema(faust.Schema[bytes, bytes]):
    """Passes blocks through untouched: nothing is decoded, filtered or acknowledged by Faust."""

    def compile(self, app: Any, **_: Any) -> Any:
        async def decode(message: Any, *, propagate: bool = False) -> Event:
            return Event(app, message.key, message.value, message.headers, message)

        return decode


def wall_ms() -> int:
    """Return the machine's own time, never the demo's: it dates local stores."""
    return time.time_ns() // 1_000_000


class BlockTable(Table[bytes, bytes]):
    """Restores from its changelog by whole blocks and trusts a local store only while it is fresh.

    A store last owned longer ago than half the changelog's tombstone retention may hold rows
    whose deletion was compacted away: it is deleted before recovery, and so is one that stands
    beyond its changelog's end.
    """

    def __init__(
        self,
        app: faust.App,
        name: str,
        partitions: int,
        ordered: bytes = b"s|",
        stale_after_ms: int = CHANGELOG_DELETE_RETENTION_MS // 2,
    ) -> None:
        """`ordered` is the prefix of the rows that views find in order."""
        super().__init__(
            app,
            name=name,
            partitions=partitions,
            default=bytes,
            schema=BlockSchema(),
            options=dict(_STORE_OPTIONS),
            recovery_buffer_size=_RECOVERY_BLOCKS,
        )
        self._ordered = ordered
        self._stale_after_ms = stale_after_ms
        self._views: dict[int, View] = {}
        self.restored = 0  # changelog records read since the start

    def view(self, partition: int) -> View:
        """Return this partition's view; it is gone after the partition is revoked."""
        view = self._views.get(partition)
        if view is None:
            view = self._views[partition] = View(self._rocks._db_for_partition(partition), self._ordered)
        return view

    def drop_views(self) -> None:
        """Forget everything kept in memory of any partition."""
        self._views.clear()

    def touch(self, owned_ms: int) -> None:
        """Note that the partitions held were still ours then."""
        for store in self._rocks._dbs.values():
            store.put(OWNED_KEY, b"%d" % owned_ms)

    @property
    def _rocks(self) -> Any:
        return self.data  # its interface does not tell of partitions

    def apply_changelog_batch(self, batch: Iterable[Any]) -> None:
        """Write restored blocks; an error here must not be taken for success, so it ends the process."""
        topic = self.changelog_topic.get_topic_name()
        blocks: dict[TP, list[Block]] = defaultdict(list)
        for event in batch:
            if event.message.topic == topic:
                blocks[event.message.tp].append(event.message.value)
        try:
            for tp, found in blocks.items():
                self._restore(tp.partition, found)
        except Exception as error:  # Faust logs and goes on here, which would lose rows
            leave_for(error, f"restoring {topic}")

    def _restore(self, partition: int, blocks: list[Block]) -> None:
        store = WriteBatch(raw_mode=True)
        for block in blocks:
            for record in block:
                key: Any = record.key  # a row without one ends the process
                if record.value is None:
                    store.delete(key)
                else:
                    store.put(key, record.value)
            self.restored += len(block)
        store.put(OFFSET_KEY, b"%d" % blocks[-1].records[-1].offset)
        store.put(OWNED_KEY, b"%d" % wall_ms())
        self._rocks._db_for_partition(partition).write(store)

    async def on_rebalance(
        self, assigned: set[TP], revoked: set[TP], newly_assigned: set[TP], generation_id: int = 0
    ) -> None:
        """Open the stores of what is assigned, and delete those that cannot be trusted.

        Also one that was never closed: whoever lost its membership and joined again may find the
        partition where it was, and another worker may have owned it in between.
        """
        topic = self.changelog_topic.get_topic_name()
        mine = [tp for tp in assigned if tp.topic == topic]
        ends = await self.app.consumer.highwaters(*mine) if mine else {}
        await super().on_rebalance(assigned, revoked, newly_assigned, generation_id)
        for tp in mine:
            self._distrust(tp, ends.get(tp) or 0)

    def _distrust(self, tp: TP, end: int) -> None:
        store = self._rocks
        db = store._db_for_partition(tp.partition)
        offset, owned = db.get(OFFSET_KEY), db.get(OWNED_KEY)
        if offset is None:
            return
        # An age below zero is a clock that was wrong then or is wrong now.
        fresh = abs(wall_ms() - int(owned or 0)) <= self._stale_after_ms
        beyond = int(offset) >= end
        if fresh and not beyond:
            return
        why = "it stands beyond its changelog" if beyond else "its last ownership is too old"
        log.warning("local store deleted", table=self.name, partition=tp.partition, reason=why)
        path = store.partition_path(tp.partition)
        store._dbs.pop(tp.partition, None)
        db.close()
        del db
        shutil.rmtree(path)
        store._db_for_partition(tp.partition)
        recovery: Any = cast(Any, self.app.tables).recovery
        recovery.revoke(tp)  # it may remember where the deleted store stood
