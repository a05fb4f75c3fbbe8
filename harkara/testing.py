"""A transport without Kafka that can crash at any record: for tests of agents, with real stores.

It keeps the order of durability of the real one: a crash leaves a prefix of the changelog, none of
the outputs that were to follow it, and offsets committed only for what was finished.
"""

import asyncio
import shutil
import tempfile
import weakref
from collections import defaultdict
from pathlib import Path

from rocksdict import Options, Rdict

from connectors.kafka.block import Block, Writes
from connectors.kafka.view import View


class Crash(Exception):
    """The process ends here; what was not durable is gone."""


class RecordingTransport:
    """Applies writes to real stores, records everything, and crashes when told to."""

    def __init__(self, partitions: int = 1) -> None:
        self._partitions = partitions
        self._folder = tempfile.mkdtemp(prefix="harkara-")
        weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self._views: dict[tuple[str, int], View] = {}
        self._opened = 0
        self.changelog: dict[tuple[str, int], list[tuple[bytes, bytes | None]]] = defaultdict(list)
        self.outputs: list[tuple[str, bytes | None, bytes | None]] = []
        self.offsets: dict[tuple[str, int], int] = {}
        self.timers_are_open = True
        self._records_left: int | None = None
        self._outputs_left: int | None = None

    def crash_after(self, records: int, outputs: int = 0) -> None:
        """Crash once this many more changelog records, and then outputs, are durable."""
        self._records_left, self._outputs_left = records, outputs

    def restart(self) -> None:
        """Start again as a new process: stores are rebuilt from the changelogs."""
        self._views.clear()
        self._records_left = self._outputs_left = None

    # -- what agents use --------------------------------------------------------------------

    def view(self, table: str, partition: int) -> View:
        view = self._views.get((table, partition))
        if view is None:
            self._opened += 1
            store = Rdict(str(Path(self._folder) / str(self._opened)), Options(raw_mode=True))
            for key, value in self.changelog[table, partition]:
                if value is None:
                    store.delete(key)
                else:
                    store.put(key, value)
            view = self._views[table, partition] = View(store, b"s|")
        return view

    def current(self, block: Block) -> bool:
        return True

    async def finish(self, block: Block, writes: Writes) -> None:
        self.apply(writes)
        self.offsets[block.topic, block.partition] = block.records[-1].offset + 1

    async def durable(self, writes: Writes) -> None:
        self.apply(writes)

    def post(self, writes: Writes) -> "asyncio.Future[None]":
        self.apply(writes)
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        future.set_result(None)
        return future

    def check_ownership(self) -> None:
        """Always ours."""

    def owned(self) -> set[int]:
        return set(range(self._partitions))

    def timers_open(self, partition: int) -> bool:
        return self.timers_are_open

    def committed(self, topic: str, partition: int) -> int:
        return self.offsets.get((topic, partition), 0)

    # -- inside -------------------------------------------------------------------------------

    def apply(self, writes: Writes) -> None:
        for table, changes in writes.changes.items():
            log = self.changelog[table, writes.partition]
            for change in changes.items():
                if self._records_left == 0:
                    raise Crash
                if self._records_left is not None:
                    self._records_left -= 1
                log.append(change)
        for table, changes in writes.changes.items():
            view = self.view(table, writes.partition)
            view.write(changes, view.apply(changes), len(self.changelog[table, writes.partition]), 0)
        for topic, records in writes.outputs.items():
            for record in records:
                self._emit(topic, record["key"], record["value"])
        for topic, _, key, value, _ in writes.headed:
            self._emit(topic, key, value)

    def _emit(self, topic: str, key: bytes | None, value: bytes | None) -> None:
        if self._outputs_left is not None and self._records_left == 0:
            if self._outputs_left == 0:
                raise Crash
            self._outputs_left -= 1
        self.outputs.append((topic, key, value))
