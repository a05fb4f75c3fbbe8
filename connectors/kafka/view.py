"""One partition of a table as its owner sees it: RocksDB plus what is not written to it yet."""

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from rocksdict import Rdict, WriteBatch

#: Faust's own key for the changelog offset a store stands at; sorts after all of ours.
OFFSET_KEY = b"__faust\0offset__"
OWNED_KEY = b"__harkara\0owned_ms"
_RESERVED = (OFFSET_KEY, OWNED_KEY)


class View:
    """Reads see every applied change at once; RocksDB gets it when its changelog is durable."""

    __slots__ = ("_db", "_fresh", "_ordered", "_pending", "_sequence")

    def __init__(self, db: Rdict, ordered: bytes) -> None:
        self._db = db
        self._ordered = ordered  # prefix of the rows that `scan` must find in order
        self._pending: dict[bytes, tuple[bytes | None, int]] = {}
        self._fresh: dict[bytes, bytes] = {}  # pending rows under that prefix
        self._sequence = 0

    def get(self, key: bytes) -> bytes | None:
        """Return the row's value, or None."""
        pending = self._pending.get(key)
        if pending is not None:
            return pending[0]
        value: bytes | None = self._db.get(key)
        return value

    def get_many(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """Return the values of many rows by one call to the store."""
        values = cast("list[bytes | None]", self._db.get(list(keys)))
        if self._pending:
            pending = self._pending
            for i, key in enumerate(keys):
                found = pending.get(key)
                if found is not None:
                    values[i] = found[0]
        return values

    def scan(self, start: bytes, end: bytes, limit: int) -> list[tuple[bytes, bytes]]:
        """Return the first `limit` rows with start <= key < end, in order.

        Rows not yet in the store are found only under the view's ordered prefix.
        """
        rows: list[tuple[bytes, bytes]] = []
        for key, value in self._walk(start):
            if key >= end or len(rows) == limit:
                break
            if key not in self._pending:
                rows.append((key, value))
        if self._fresh:
            rows.extend((key, value) for key, value in self._fresh.items() if start <= key < end)
            rows.sort()
            del rows[limit:]
        return rows

    def _walk(self, start: bytes) -> Iterator[tuple[bytes, bytes]]:
        walker = self._db.iter()
        walker.seek(start)
        while walker.valid():
            key: bytes = walker.key()
            if key not in _RESERVED:
                yield key, walker.value()
            walker.next()

    def apply(self, changes: Mapping[bytes, bytes | None]) -> int:
        """Make changes visible to reads; returns their number in the order of application."""
        self._sequence += 1
        sequence = self._sequence
        ordered, fresh, pending = self._ordered, self._fresh, self._pending
        for key, value in changes.items():
            pending[key] = (value, sequence)
            if key.startswith(ordered):
                if value is None:
                    fresh.pop(key, None)
                else:
                    fresh[key] = value
        return sequence

    def write(self, changes: Mapping[bytes, bytes | None], sequence: int, offset: int, owned_ms: int) -> None:
        """Store changes whose changelog is durable up to `offset`: one atomic batch."""
        batch = WriteBatch(raw_mode=True)
        put, delete, pending = batch.put, batch.delete, self._pending
        for key, value in changes.items():
            if value is None:
                delete(key)
            else:
                put(key, value)
            found = pending.get(key)
            if found is not None and found[1] == sequence:
                del pending[key]
                self._fresh.pop(key, None)
        put(OFFSET_KEY, b"%d" % offset)
        put(OWNED_KEY, b"%d" % owned_ms)
        self._db.write(batch)
