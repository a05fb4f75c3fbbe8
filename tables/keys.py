"""How rows of the `user-state` table are named: one table, several views by key prefix.

A user's id may contain anything but is always followed by parts of fixed length, so every key
can be taken apart again. `row` is a row id of the schedule (`streams.ids.row_id`).
"""

import struct
from typing import NamedTuple

CAPS = b"c|"
DEDUP = b"d|"
WAITING = b"s|"
ROW = b"r|"
FIRED = b"f|"
CURSOR = b"k|"
_HASH_BYTES = 16
_DUE = struct.Struct(">Q")


class WaitingKey(NamedTuple):
    """A waiting row's key, taken apart."""

    channel: str
    lane: str
    due_ms: int
    row: str


def caps_key(user: bytes) -> bytes:
    """Name the row of a user's places under caps."""
    return CAPS + user


def dedup_key(user: bytes, key_hash: bytes) -> bytes:
    """Name the row of one event's first result."""
    return DEDUP + user + b"|" + key_hash


def waiting_prefix(channel: str, lane: str) -> bytes:
    """Name the start of all rows of one channel and lane."""
    return b"%s%s|%s|" % (WAITING, channel.encode(), lane.encode())


def waiting_key(channel: str, lane: str, due_ms: int, row: str) -> bytes:
    """Name a row that waits; keys of one channel and lane sort by due instant."""
    return waiting_prefix(channel, lane) + _DUE.pack(due_ms) + b"|" + row.encode()


def due_bound(channel: str, lane: str, due_ms: int) -> bytes:
    """Name the place just before every row due at or after `due_ms`."""
    return waiting_prefix(channel, lane) + _DUE.pack(due_ms)


def row_key(row: str) -> bytes:
    """Name a waiting row's entry."""
    return ROW + row.encode()


def fired_key(row: str) -> bytes:
    """Name the entry of a row that fired or was cancelled."""
    return FIRED + row.encode()


def cursor_key(channel: str, lane: str) -> bytes:
    """Name the instant up to which one channel and lane has fired."""
    return b"%s%s|%s" % (CURSOR, channel.encode(), lane.encode())


def parse_caps(key: bytes) -> bytes:
    """Return the user of a caps row."""
    return key[len(CAPS) :]


def parse_dedup(key: bytes) -> tuple[bytes, bytes]:
    """Return user and key hash of a dedup row."""
    return key[len(DEDUP) : -_HASH_BYTES - 1], key[-_HASH_BYTES:]


def parse_waiting(key: bytes) -> WaitingKey:
    """Take a waiting row's key apart."""
    _, channel, rest = key.split(b"|", 2)
    lane, _, rest = rest.partition(b"|")
    (due_ms,) = _DUE.unpack_from(rest)
    return WaitingKey(channel.decode(), lane.decode(), due_ms, rest[_DUE.size + 1 :].decode())


def parse_row(key: bytes) -> str:
    """Return the row id of an entry, waiting or fired."""
    return key[len(ROW) :].decode()
