"""The ledger: every call in a file, and an index of it in memory.

An entry is written to the file before its call is answered, so that a killed simulator knows on
its return all that it ever said yes to. Memory holds about half a kilobyte an entry.
"""

import os
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec import structs

from connectors.simulator.entry import Counts, Entry, Page

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Entry).decode
# A page looks at no more than this many entries, so that asking never holds up the calls.
_MOST_LOOKED_AT = 2_000


class Ledger:
    """Append-only; one process at a time."""

    def __init__(self, path: Path) -> None:
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        self._clear()
        self._load(path)

    def __len__(self) -> int:
        return len(self._offsets)

    def add(self, entry: Entry) -> Entry:
        """Store the entry under the next `seq` and `arrival`; return it with both."""
        known = self._by_delivery.get(entry.delivery_id, ())
        numbered = structs.replace(entry, seq=len(self._offsets), arrival=len(known) + 1)
        line = _encode(numbered) + b"\n"
        os.pwrite(self._fd, line, self._end)
        self._index(numbered, self._end)
        self._end += len(line)
        return numbered

    def accepted(self, delivery_id: str) -> int:
        """Return how often this delivery went out."""
        return self._accepted.get(delivery_id, 0)

    def counts(self) -> Counts:
        """Return the ledger in numbers; calls without a delivery id are calls and accepted only."""
        return Counts(len(self), self._accepted_calls, len(self._accepted), len(self._repeated))

    def repeated(self) -> dict[str, int]:
        """Return the deliveries that went out more than once, and how often."""
        return {delivery_id: self._accepted[delivery_id] for delivery_id in self._repeated}

    def page(
        self,
        after: int = -1,
        limit: int = 1_000,
        delivery_id: str | None = None,
        address: str | None = None,
        provider: str | None = None,
        accepted: bool | None = None,
    ) -> Page:
        """Return entries with `seq` > `after` that fit every filter, oldest first.

        A page may be empty and still have a next one.
        """
        candidates: Sequence[int] = range(after + 1, len(self))
        if delivery_id is not None:
            candidates = [seq for seq in self._by_delivery.get(delivery_id, ()) if seq > after]
        elif address is not None:
            candidates = [seq for seq in self._by_address.get(address, ()) if seq > after]
        found: list[Entry] = []
        seen = 0
        for entry in self._read(candidates[:_MOST_LOOKED_AT]):
            if len(found) == limit:
                break
            seen += 1
            if (
                address in (None, entry.address)
                and provider in (None, entry.provider)
                and accepted in (None, entry.accepted)
            ):
                found.append(entry)
        return Page(found, candidates[seen - 1] if 0 < seen < len(candidates) else None)

    def reset(self) -> None:
        """Forget everything."""
        os.ftruncate(self._fd, 0)
        self._clear()

    def close(self) -> None:
        """Close the file; what was added is in it."""
        os.close(self._fd)

    def _clear(self) -> None:
        self._end = 0
        self._offsets = array("q")
        self._by_delivery: dict[str, list[int]] = {}
        self._by_address: dict[str, list[int]] = {}
        self._accepted: dict[str, int] = {}
        self._accepted_calls = 0
        self._repeated: dict[str, None] = {}  # in the order in which they were repeated first

    def _load(self, path: Path) -> None:
        with path.open("rb") as lines:
            for line in lines:
                if not line.endswith(b"\n"):
                    break  # torn by a kill: its call was never answered
                self._index(_decode(line), self._end)
                self._end += len(line)
        os.ftruncate(self._fd, self._end)

    def _index(self, entry: Entry, offset: int) -> None:
        self._offsets.append(offset)
        self._by_address.setdefault(entry.address, []).append(entry.seq)
        if entry.delivery_id:
            self._by_delivery.setdefault(entry.delivery_id, []).append(entry.seq)
        if entry.accepted:
            self._accepted_calls += 1
            if entry.delivery_id:
                count = self._accepted[entry.delivery_id] = self.accepted(entry.delivery_id) + 1
                if count == 2:
                    self._repeated[entry.delivery_id] = None

    def _read(self, seqs: Sequence[int]) -> Iterator[Entry]:
        for seq in seqs:
            end = self._offsets[seq + 1] if seq + 1 < len(self._offsets) else self._end
            yield _decode(os.pread(self._fd, end - self._offsets[seq], self._offsets[seq]))
