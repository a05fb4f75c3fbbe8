"""The books of one partition: only a contiguous prefix of finished blocks may be committed."""

from hypothesis import given
from hypothesis import strategies as st

from connectors.kafka.ledger import Ledger


@st.composite
def _blocks_and_order(draw: st.DrawFn) -> tuple[int | None, list[tuple[int, int]], list[int]]:
    """Blocks with gaps between them, and the order in which they are finished."""
    committed = draw(st.none() | st.integers(0, 50))
    at, blocks = committed or 0, []
    for _ in range(draw(st.integers(1, 12))):
        first = at + draw(st.integers(0, 2))
        last = first + draw(st.integers(0, 5))
        blocks.append((first, last))
        at = last + 1
    return committed, blocks, draw(st.permutations(range(len(blocks))))


@given(_blocks_and_order())
def test_the_committable_offset_is_the_end_of_the_finished_prefix(
    case: tuple[int | None, list[tuple[int, int]], list[int]],
) -> None:
    """In whatever order blocks end, an offset is committable only when all below it are done."""
    committed, blocks, order = case
    ledger = Ledger(committed)
    entries = [ledger.add(first, last) for first, last in blocks]
    done: set[int] = set()
    for number in order:
        entries[number].applied = entries[number].done = True
        done.add(number)
        prefix = next((i for i in range(len(blocks)) if i not in done), len(blocks))
        expected = blocks[prefix - 1][1] + 1 if prefix else None
        assert ledger.committable() == expected
        assert ledger.in_flight == len(blocks) - prefix
    ledger.committed = ledger.committable()
    assert ledger.committable() is None


@given(_blocks_and_order())
def test_passed_is_the_first_undecided_offset(
    case: tuple[int | None, list[tuple[int, int]], list[int]],
) -> None:
    """A gate is passed up to the first block that is not decided, and then up to the position."""
    committed, blocks, order = case
    ledger = Ledger(committed)
    entries = [ledger.add(first, last) for first, last in blocks]
    ledger.position = blocks[-1][1] + 3  # two offsets of control records lie behind
    for number in order:
        open_ = [first for (first, _), entry in zip(blocks, entries, strict=True) if not entry.applied]
        assert ledger.passed() == open_[0]
        assert ledger.undecided == len(open_)
        entries[number].applied = True
    assert ledger.passed() == ledger.position
    assert ledger.committable() is None  # decided is not durable


def test_the_end_of_a_transaction_is_committed() -> None:
    """With nothing in flight the position is committable, so that no marker is left below it."""
    ledger = Ledger(10)
    entry = ledger.add(10, 19)
    ledger.position = 21
    entry.done = True
    assert ledger.committable() == 21


def test_a_position_is_not_committed_over_work_in_flight() -> None:
    """While a block is in flight only the finished prefix counts."""
    ledger = Ledger(10)
    first, _ = ledger.add(10, 14), ledger.add(15, 19)
    ledger.position = 20
    first.done = True
    assert ledger.committable() == 15


def test_a_group_without_commits_starts_where_the_log_starts() -> None:
    """A log that was trimmed before the group ever read is committed from its start, once."""
    ledger = Ledger(None)
    assert ledger.committable() is None
    ledger.position = 500
    assert ledger.committable() == 500
    ledger.committed = 500
    assert ledger.committable() is None


def test_the_next_block_is_expected_after_the_last() -> None:
    """The expectation moves with what was entered."""
    ledger = Ledger(7)
    assert ledger.expected == 7
    ledger.add(7, 9)
    assert ledger.expected == 10
