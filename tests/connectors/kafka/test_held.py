"""Blocks wait until their gate was read far enough."""

from connectors.kafka.block import Block
from connectors.kafka.held import Held
from connectors.kafka.ledger import Ledger

GATE, OTHER = ("profiles", 0), ("profiles", 1)


def _block(topic: str, partition: int = 0) -> Block:
    return Block(topic, partition, [])


def test_a_block_opens_when_its_gate_is_decided_to_the_end_seen() -> None:
    """Neither read nor in flight is enough: everything below the end must be decided."""
    held, book = Held(), Ledger(0)
    block = _block("ingest")
    held.add(("ingest", 0), block, GATE, 10)
    assert held.opened({GATE: book}) == []
    entry = book.add(0, 9)
    book.position = 10
    assert held.opened({GATE: book}) == []
    assert held.partitions == {("ingest", 0)}
    entry.applied = True
    assert held.opened({GATE: book}) == [(("ingest", 0), block)]
    assert not held


def test_control_records_at_the_gates_end_open_it() -> None:
    """A gate whose last offset is the end of a transaction opens by position."""
    held, book = Held(), Ledger(8)
    held.add(("ingest", 0), _block("ingest"), GATE, 10)
    assert held.opened({GATE: book}) == []
    book.position = 10
    assert len(held.opened({GATE: book})) == 1


def test_partitions_wait_for_their_own_gate() -> None:
    """One partition's slow gate holds no other, and order is kept."""
    held, slow, quick = Held(), Ledger(0), Ledger(5)
    first, second, third = _block("a"), _block("a", 1), _block("b", 1)
    held.add(("a", 0), first, GATE, 5)
    held.add(("a", 1), second, OTHER, 5)
    held.add(("b", 1), third, OTHER, 5)
    books = {GATE: slow, OTHER: quick}
    assert [block for _, block in held.opened(books)] == [second, third]
    slow.position = 5
    assert [block for _, block in held.opened(books)] == [first]


def test_a_gate_that_is_not_read_here_holds_nothing() -> None:
    """A plan may name a gate that an app does not subscribe to."""
    held = Held()
    held.add(("ingest", 0), _block("ingest"), GATE, 10)
    assert len(held.opened({})) == 1


def test_cleared_blocks_are_forgotten() -> None:
    """After a revoke nothing held is ever handed out."""
    held = Held()
    held.add(("ingest", 0), _block("ingest"), GATE, 10)
    held.clear()
    assert not held
    assert held.opened({}) == []
