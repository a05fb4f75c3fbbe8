"""Reading order: a lower lane stands back while a higher one has work."""

from connectors.kafka.ledger import Entry, Ledger
from connectors.kafka.plan import Ask, ReadPlan, Tp, asks

PLAN = ReadPlan({"critical": 0, "normal": 1, "bulk": 2}, blocks_in_flight=2)
CRITICAL: list[Tp] = [("critical", 0), ("critical", 1)]
BULK: list[Tp] = [("bulk", 0), ("bulk", 1)]


def _books(*tps: Tp) -> dict[Tp, Ledger]:
    return {tp: Ledger(0) for tp in tps}


def _block(book: Ledger) -> Entry:
    first = book.expected or 0
    return book.add(first, first + 9)


def test_idle_lanes_are_all_asked_in_order_of_rank() -> None:
    """With no work anywhere every partition is polled, the highest rank first."""
    books = _books(*BULK, *CRITICAL)
    found, waits = asks(PLAN, [*BULK, *CRITICAL], books)
    assert found == [Ask(tuple(CRITICAL), 2, 1), Ask(tuple(BULK), 2, 1)]
    assert not waits


def test_a_lower_lane_gives_one_block_while_a_higher_one_works() -> None:
    """Undecided work above leaves a lower rank at most one block in flight."""
    books = _books(*BULK, *CRITICAL)
    _block(books["critical", 1])
    found, _ = asks(PLAN, [*BULK, *CRITICAL], books)
    assert found[1] == Ask(tuple(BULK), 1, 1)
    _block(books["bulk", 0])
    found, waits = asks(PLAN, [*BULK, *CRITICAL], books)
    assert [ask.partitions for ask in found] == [tuple(CRITICAL)]
    assert waits


def test_decided_work_above_holds_nobody_back() -> None:
    """Blocks that are decided but not yet durable leave the lower ranks alone."""
    books = _books(*BULK, *CRITICAL)
    _block(books["critical", 0]).applied = True
    found, _ = asks(PLAN, [*BULK, *CRITICAL], books)
    assert found[1] == Ask(tuple(BULK), 2, 1)


def test_a_lane_with_blocks_in_flight_gives_none_when_a_higher_one_gives() -> None:
    """In one poll with a higher rank's records a lower rank adds a block only if it has none."""
    books = _books(*BULK, *CRITICAL)
    _block(books["bulk", 0])
    found, _ = asks(PLAN, [*BULK, *CRITICAL], books)
    assert found[1] == Ask(tuple(BULK), 2, 0)


def test_a_full_partition_is_not_asked() -> None:
    """A partition with all its blocks in flight waits; the others of its rank go on."""
    books = _books(*CRITICAL)
    _block(books["critical", 0])
    _block(books["critical", 0])
    found, waits = asks(PLAN, CRITICAL, books)
    assert found == [Ask((("critical", 1),), 1, 0)]
    assert waits


def test_work_two_ranks_above_counts_too() -> None:
    """The middle rank's idleness does not free the lowest one."""
    tps = [*CRITICAL, ("normal", 0), *BULK]
    books = _books(*tps)
    _block(books["critical", 0])
    _block(books["bulk", 0])
    found, _ = asks(PLAN, tps, books)
    assert [ask.partitions for ask in found] == [tuple(CRITICAL), (("normal", 0),)]
    assert found[1].blocks == 1


def test_nothing_active_asks_for_nothing() -> None:
    """Without partitions there is nothing to poll and nobody stands back."""
    assert asks(PLAN, [], {}) == ([], False)
