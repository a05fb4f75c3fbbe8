"""Lets Faust's recovery end on a changelog whose last offsets hold no row."""

from collections.abc import Mapping
from typing import Any

from faust.types.tuples import TP

from connectors.kafka.plan import Tp


class Restoring:
    """Knows which changelog blocks were handed over.

    Stock recovery waits for the record right before the log's end. The end of a transaction, or
    records that were compacted away, take offsets there and never come.
    """

    def __init__(self) -> None:
        self._handed: dict[Tp, int] = {}

    def handed(self, tp: Tp, last: int) -> None:
        """Note the last offset of a block that was handed to the recovery."""
        self._handed[tp] = last

    def clear(self) -> None:
        """Forget the recovery that was."""
        self._handed.clear()

    def close(self, recovery: Any, positions: Mapping[Tp, int]) -> None:
        """Call a changelog read to its end where we passed it and every block handed over was seen."""
        seen: dict[TP, int | None] = recovery.active_offsets
        for tp, highest in recovery.active_highwaters.items():
            offset, position = seen.get(tp), positions.get(tp)
            if offset is None or position is None or highest is None:
                continue
            if offset < highest < position and offset >= self._handed.get(tp, offset):
                seen[tp] = highest
