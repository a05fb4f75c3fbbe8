"""The books of one partition: what was handed out, what is applied, what may be committed."""

from collections import deque


class Entry:
    """One block on its way; `applied` once its writes are decided, `done` once they are durable."""

    __slots__ = ("applied", "done", "first", "last")

    def __init__(self, first: int, last: int) -> None:
        self.first = first
        self.last = last
        self.applied = False
        self.done = False


class Ledger:
    """Commits only the contiguous prefix of finished blocks, whatever the order they end in.

    Books are made at an assignment and thrown away with it, so nothing of an older
    assignment can be counted.
    """

    def __init__(self, committed: int | None) -> None:
        self.committed = committed  # what Kafka knows
        self.expected = committed  # first offset of the next block, once known
        self.finished = committed  # end of the contiguous finished prefix
        self.position = committed  # where the fetcher stood when the last block was entered
        self._entries: deque[Entry] = deque()

    def add(self, first: int, last: int) -> Entry:
        """Enter a block that is handed to an agent."""
        entry = Entry(first, last)
        self._entries.append(entry)
        self.expected = last + 1
        return entry

    @property
    def in_flight(self) -> int:
        """Blocks handed out and not finished."""
        self._advance()
        return len(self._entries)

    @property
    def undecided(self) -> int:
        """Blocks handed out whose writes are not decided yet."""
        return sum(not entry.applied for entry in self._entries)

    def passed(self) -> int:
        """Everything below this offset is decided (control records at the end included)."""
        for entry in self._entries:
            if not entry.applied:
                return entry.first
        return self.position or 0

    def committable(self) -> int | None:
        """Return the offset to commit, or None when Kafka knows it already.

        With nothing in flight that is where the fetcher stands: the end of a transaction has an
        offset too, and a commit below it would one day be below the log's start.
        """
        self._advance()
        end = self.finished
        if not self._entries and self.position is not None:
            end = self.position if end is None else max(end, self.position)
        if end is None or (self.committed is not None and end <= self.committed):
            return None
        return end

    def _advance(self) -> None:
        entries = self._entries
        while entries and entries[0].done:
            self.finished = entries.popleft().last + 1
