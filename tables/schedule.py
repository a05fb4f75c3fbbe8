"""What waits for its instant: a time-ordered store per partition, channel and lane.

Each row has an entry beside it that outlives it until no replay can insert the row again. A
cursor per channel and lane says how far it has fired; late rows go to max(due, cursor), so a scan
never walks over what is gone.
"""

from collections.abc import Callable, Iterator

from connectors.kafka.block import Writes
from connectors.kafka.view import View
from streams.records.codec import state_row, state_waiting, to_state
from streams.records.decision import Decision
from streams.records.source import Source
from streams.records.state import Row, Waiting
from streams.topics import USER_STATE
from tables.keys import (
    FIRED,
    cursor_key,
    due_bound,
    fired_key,
    parse_row,
    row_key,
    waiting_key,
    waiting_prefix,
)

_FIRED_LIMIT = 1_000_000


class Schedule:
    """Rows that wait, by partition."""

    def __init__(self, view: Callable[[str, int], View]) -> None:
        self._view = view
        self._cursors: dict[tuple[int, str, str], int] = {}

    def forget(self) -> None:
        """Drop what is kept in memory (after a revoke)."""
        self._cursors.clear()

    def insert(self, writes: Writes, waiting: Waiting, due_ms: int, source: Source, offset: int) -> None:
        """Let a delivery wait until `due_ms`; a row that a replay brings again changes nothing."""
        if self._exists(writes, waiting.row):
            return
        delivery = waiting.delivery
        due_ms = max(due_ms, self._cursor(writes.partition, delivery.channel, delivery.lane))
        entry = Row("w", source, writes.partition, due_ms, delivery.channel, delivery.lane, offset=offset)
        writes.put(USER_STATE, row_key(waiting.row), to_state(entry))
        key = waiting_key(delivery.channel, delivery.lane, due_ms, waiting.row)
        writes.put(USER_STATE, key, to_state(waiting))

    def _exists(self, writes: Writes, row: str) -> bool:
        view = self._view(USER_STATE, writes.partition)
        mine = writes.changes.get(USER_STATE, {})
        return any(mine.get(key) or view.get(key) is not None for key in (row_key(row), fired_key(row)))

    def due(
        self, partition: int, channel: str, lane: str, now_ms: int, limit: int
    ) -> list[tuple[int, Waiting]]:
        """Return up to `limit` rows due at or before `now_ms`, earliest first, with their instants."""
        cursor = self._cursor(partition, channel, lane)
        start, end = due_bound(channel, lane, cursor), due_bound(channel, lane, now_ms + 1)
        rows = self._view(USER_STATE, partition).scan(start, end, limit)
        skip = len(waiting_prefix(channel, lane))
        return [(int.from_bytes(key[skip : skip + 8], "big"), state_waiting(value)) for key, value in rows]

    def fire(self, writes: Writes, due_ms: int, waiting: Waiting, decisions: tuple[Decision, ...]) -> Row:
        """Take a row out and keep what was decided about it until that is durable outside."""
        delivery = waiting.delivery
        view = self._view(USER_STATE, writes.partition)
        raw = view.get(row_key(waiting.row))
        entry = state_row(raw) if raw is not None else None
        fired = Row(
            "f",
            entry.source if entry is not None else Source(0, waiting.row),
            writes.partition,
            due_ms,
            delivery.channel,
            delivery.lane,
            decisions,
            delivery,
            entry.offset if entry is not None else -1,
        )
        writes.delete(USER_STATE, waiting_key(delivery.channel, delivery.lane, due_ms, waiting.row))
        writes.delete(USER_STATE, row_key(waiting.row))
        writes.put(USER_STATE, fired_key(waiting.row), to_state(fired))
        self._move_cursor(writes, delivery.channel, delivery.lane, due_ms)
        return fired

    def fired(self, partition: int) -> Iterator[tuple[str, Row]]:
        """Return the entries of rows that fired or were cancelled and are still kept."""
        end = FIRED[:-1] + bytes([FIRED[-1] + 1])
        for key, value in self._view(USER_STATE, partition).scan(FIRED, end, _FIRED_LIMIT):
            yield parse_row(key), state_row(value)

    def let_go(self, writes: Writes, row: str) -> None:
        """Remove the entry of a fired row that no replay can bring back."""
        writes.delete(USER_STATE, fired_key(row))

    def is_kept(self, partition: int, row: str) -> bool:
        """Whether a row's entry still exists, waiting or fired."""
        view = self._view(USER_STATE, partition)
        return view.get(row_key(row)) is not None or view.get(fired_key(row)) is not None

    def _cursor(self, partition: int, channel: str, lane: str) -> int:
        place = (partition, channel, lane)
        cursor = self._cursors.get(place)
        if cursor is None:
            raw = self._view(USER_STATE, partition).get(cursor_key(channel, lane))
            cursor = self._cursors[place] = int(raw) if raw is not None else 0
        return cursor

    def _move_cursor(self, writes: Writes, channel: str, lane: str, due_ms: int) -> None:
        place = (writes.partition, channel, lane)
        if due_ms > self._cursors.get(place, 0):
            self._cursors[place] = due_ms
            writes.put(USER_STATE, cursor_key(channel, lane), b"%d" % due_ms)
