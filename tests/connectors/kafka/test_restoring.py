"""A changelog may end in offsets that hold no row."""

from types import SimpleNamespace

from connectors.kafka.restoring import Restoring

TP = ("changelog", 0)


def _recovery(seen: int | None, highest: int) -> SimpleNamespace:
    return SimpleNamespace(active_offsets={TP: seen}, active_highwaters={TP: highest})


def test_a_changelog_passed_by_the_reader_is_at_its_end() -> None:
    """The last offset is the end of a transaction: no record will ever bring it."""
    restoring, recovery = Restoring(), _recovery(seen=8, highest=9)
    restoring.handed(TP, 8)
    restoring.close(recovery, {TP: 10})
    assert recovery.active_offsets[TP] == 9


def test_rows_on_their_way_are_waited_for() -> None:
    """A block that was handed over but not seen yet would be dropped if the end were called now."""
    restoring, recovery = Restoring(), _recovery(seen=4, highest=9)
    restoring.handed(TP, 8)
    restoring.close(recovery, {TP: 10})
    assert recovery.active_offsets[TP] == 4


def test_a_changelog_that_was_not_passed_is_not_at_its_end() -> None:
    """The position must be beyond the highest offset."""
    restoring, recovery = Restoring(), _recovery(seen=8, highest=9)
    restoring.close(recovery, {TP: 9})
    assert recovery.active_offsets[TP] == 8


def test_unknown_positions_and_offsets_are_left_alone() -> None:
    """An unknown offset is never taken for an empty changelog."""
    restoring, recovery = Restoring(), _recovery(seen=None, highest=9)
    restoring.close(recovery, {TP: 10})
    assert recovery.active_offsets[TP] is None
    recovery = _recovery(seen=3, highest=9)
    restoring.close(recovery, {})
    assert recovery.active_offsets[TP] == 3
