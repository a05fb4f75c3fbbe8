"""First results: one row an event, kept for its deduplication window."""

from connectors.kafka.block import Writes
from connectors.kafka.view import View
from streams.records.codec import state_admission, to_state
from streams.records.state import Admission
from streams.topics import USER_STATE
from tables.keys import dedup_key


def admitted_of_many(view: View, keys: list[bytes]) -> dict[bytes, Admission]:
    """Return the first results that exist under these row keys, by one read."""
    return {
        key: state_admission(raw)
        for key, raw in zip(keys, view.get_many(keys), strict=True)
        if raw is not None
    }


def row_of(user: bytes, key_hash: bytes) -> bytes:
    """Name the row of one event of a user."""
    return dedup_key(user, key_hash)


def save(writes: Writes, row: bytes, admission: Admission) -> None:
    """Keep a first result (or write it again, on a replay)."""
    writes.put(USER_STATE, row, to_state(admission))


def is_over(value: bytes, now_ms: int, committed: int) -> bool:
    """Whether a first result may leave: its window is over and its source cannot come again."""
    admission = state_admission(value)
    return admission.until_ms < now_ms and admission.offset < committed
