"""Writes delivery events; a row that ClickHouse refuses is found, handed back and holds nobody up."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import ClickHouseError, Error

from connectors.clickhouse.client import INSERTING, Away, connect, told
from connectors.clickhouse.migrations import DATABASE
from connectors.clickhouse.rows import table_of
from streams.errors import HarkaraError
from streams.records.delivery_event import DeliveryEvent

#: ClickHouse's codes that blame the data. Any other may be passed later by the very same rows, so
#: they are kept: rather wait in front of a poison row of a new kind than set aside a good batch.
_BLAMES_DATA: Final = frozenset(
    {
        *(6, 26, 27, 33, 38, 41, 72, 376),  # text that cannot be parsed as what the column holds
        *(53, 69, 70, 117, 131, 321, 349, 691),  # wrong type, out of range, null, incorrect, unknown element
        469,  # violates a constraint
    }
)
#: More refused rows than this in one batch are the schema's or the release's fault, not the rows'.
_MOST_REFUSED: Final = 20
_MOST_REFUSED_SHARE: Final = 0.01


class TooManyRefused(HarkaraError):
    """ClickHouse refuses so many rows that setting them aside would be wrong."""


@dataclass(frozen=True)
class Refused:
    """A row that ClickHouse will never take: its place in the batch, and the kind of error."""

    place: int
    error: str


class Writer:
    """Inserts batches. A batch written again, whole or cut otherwise, changes nothing (natural key)."""

    def __init__(self, connect: Callable[[], Client], hash_key: bytes, database: str = DATABASE) -> None:
        """`connect` makes a client with the settings `client.INSERTING`; it is called when one is needed."""
        self._connect = connect
        self._hash_key = hash_key
        self._table = f"{database}.delivery_event"
        self._client: Client | None = None

    @classmethod
    def of(cls, url: str, hash_key: bytes) -> "Writer":
        """Return a writer for `http[s]://user:password@host:port`; nothing is asked before a write."""
        return cls(lambda: connect(url, INSERTING), hash_key)

    def write(self, events: Sequence[DeliveryEvent]) -> list[Refused]:
        """Insert the events; returns those refused, in order, when all others are stored. Blocks.

        Raises Away when ClickHouse cannot take them now: some may be stored, so write all again.
        Raises TooManyRefused when more than 1 % (and more than 20) are refused.
        """
        refused: list[Refused] = []
        ranges = [(0, len(events))] if events else []
        while ranges:
            start, end = ranges.pop()
            error = self._insert(events[start:end])
            if error is None:
                continue
            if end - start > 1:
                middle = (start + end) // 2
                ranges += [(middle, end), (start, middle)]
                continue
            refused.append(Refused(start, error))
            if len(refused) > max(_MOST_REFUSED, _MOST_REFUSED_SHARE * len(events)):
                raise TooManyRefused(f"ClickHouse refuses row after row ({error}); is the schema applied?")
        return refused

    def close(self) -> None:
        """Let go of the connection; the next write makes a new one."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def _insert(self, events: Sequence[DeliveryEvent]) -> str | None:
        """Insert all of them or none; returns why not when a row is to blame."""
        try:
            table = table_of(events, self._hash_key)
        except (ValueError, OverflowError) as error:  # a value outside its column's range
            return type(error).__name__
        try:
            if self._client is None:
                self._client = self._connect()
            self._client.insert_arrow(self._table, table)
        except ClickHouseError as error:
            if isinstance(error, Error) and error.code in _BLAMES_DATA:
                return told(error)
            self.close()
            raise Away(f"ClickHouse does not take rows ({told(error)})") from error
        return None
