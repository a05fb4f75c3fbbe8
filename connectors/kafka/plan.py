"""How an app reads its topics: which goes first, which waits for which, how much at once."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from connectors.kafka.ledger import Ledger


@dataclass(frozen=True)
class ReadPlan:
    """Reading order of one app, as data.

    `ranks`: topic -> rank; a lower number is read first, and a higher one stands back while a
    lower one has undecided work: at most one of its blocks is in flight then.
    `gates`: topic -> topic that must be read to its last stable offset first, same partition.
    `gapless`: topics only we write, without transactions: a missing offset there is a loss.
    """

    ranks: dict[str, int]
    gates: dict[str, str] = field(default_factory=dict)
    gapless: frozenset[str] = frozenset()
    block_records: int = 500
    blocks_in_flight: int = 4  # per partition
    fetch_wait_ms: int = 50


Tp = tuple[str, int]


@dataclass(frozen=True)
class Ask:
    """Partitions of one rank that may be polled, and how many blocks they may give."""

    partitions: tuple[Tp, ...]
    blocks: int
    blocks_below_work: int  # when a higher rank gives something in the same poll


def asks(plan: ReadPlan, active: Iterable[Tp], books: Mapping[Tp, Ledger]) -> tuple[list[Ask], bool]:
    """Return what may be polled now in reading order, and whether anything has to stand back."""
    by_rank: dict[int, list[Tp]] = {}
    for tp in active:
        by_rank.setdefault(plan.ranks[tp[0]], []).append(tp)
    result: list[Ask] = []
    stands_back = False
    work_above = False
    for rank in sorted(by_rank):
        tps = by_rank[rank]
        in_flight = [books[tp].in_flight for tp in tps]
        idle = not any(in_flight)
        room = tuple(tp for tp, n in zip(tps, in_flight, strict=True) if n < plan.blocks_in_flight)
        if work_above and not idle:
            room = ()
        stands_back = stands_back or len(room) < len(tps)
        if room:
            result.append(Ask(room, 1 if work_above else len(room), 1 if idle else 0))
        work_above = work_above or any(books[tp].undecided for tp in tps)
    return result, stands_back
