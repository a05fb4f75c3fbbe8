"""Blocks that were fetched and wait until the topic they depend on is read far enough."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

from connectors.kafka.block import Block
from connectors.kafka.ledger import Ledger
from connectors.kafka.plan import Tp


@dataclass(frozen=True)
class _Waiting:
    tp: Tp
    block: Block
    gate: Tp
    end: int


class Held:
    """At most one block a partition; each opens when its gate's offsets below `end` are decided."""

    def __init__(self) -> None:
        self._waiting: deque[_Waiting] = deque()

    def __bool__(self) -> bool:
        return bool(self._waiting)

    @property
    def partitions(self) -> set[Tp]:
        """Where nothing more may be fetched meanwhile."""
        return {waiting.tp for waiting in self._waiting}

    def add(self, tp: Tp, block: Block, gate: Tp, end: int) -> None:
        """Hold a block until everything below `end` is decided in `gate`."""
        self._waiting.append(_Waiting(tp, block, gate, end))

    def opened(self, books: Mapping[Tp, Ledger]) -> list[tuple[Tp, Block]]:
        """Return the blocks that may go now, in the order they came, and hold them no more.

        A gate that is not read by this worker holds nothing.
        """
        found: list[tuple[Tp, Block]] = []
        for _ in range(len(self._waiting)):
            waiting = self._waiting.popleft()
            gate = books.get(waiting.gate)
            if gate is None or gate.passed() >= waiting.end:
                found.append((waiting.tp, waiting.block))
            else:
                self._waiting.append(waiting)
        return found

    def clear(self) -> None:
        """Forget all of them: their records are read again after the next assignment."""
        self._waiting.clear()
