"""One partition of a table as its owner sees it: RocksDB plus what is not written to it yet."""

from collections.abc import Iterator, Mapping, Sequence

from rocksdict import Rdict, WriteBatch

#: Faust's own key for the changelog offset a store stands at; sorts after all of ours.
OFFSET_KEY = b"__faust\0offset__"
OWNED_KEY = b"__harkara\0owned_ms"
_RESERVED = (OFFSET_KEY, OWNED_KEY)


class View:
    """Reads see every applied change at once; RocksDB gets it when its changelog is durable."""

    __slots__ = ("_db", "_pending", "_sequence")

    def __init__(self, db: Rdict) -> None:
        self._db = db
        self._pending: dict[bytes, tuple[bytes | None, int]] = {}
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
        values: list[bytes | None] = self._db.get(list(keys))
        if self._pending:
            pending = self._pending
            for i, key in enumerate(keys):
                found = pending.get(key)
                if found is not None:
                    values[i] = found[0]
        return values

    def scan(self, start: bytes, end: bytes, limit: int) -> list[tuple[bytes, bytes]]:
        """Return up to `limit` stored rows with start <= key < end, without those deleted since.

        Rows applied but not yet written to the store are not seen: they come with a later scan.
        """
        rows: list[tuple[bytes, bytes]] = []
        for key, value in self._walk(start):
            if key >= end or len(rows) == limit:
                break
            pending = self._pending.get(key)
            if pending is None:
                rows.append((key, value))
            elif pending[0] is not None:
                rows.append((key, pending[0]))
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
        self._pending.update((key, (value, sequence)) for key, value in changes.items())
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
        put(OFFSET_KEY, b"%d" % offset)
        put(OWNED_KEY, b"%d" % owned_ms)
        self._db.write(batch)
