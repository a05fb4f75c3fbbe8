"""One partition as its owner sees it: every applied change at once, the store when it is durable."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from connectors.kafka.view import OFFSET_KEY, OWNED_KEY, View
from tests.connectors.kafka.stores import open_store, rows


@pytest.fixture
def view(tmp_path: Path) -> View:
    """A view of an empty store whose rows under `s|` are found in order."""
    return View(open_store(tmp_path / "store"), b"s|")


def test_a_change_is_read_at_once(view: View) -> None:
    """The next block sees what this one decided, although nothing is durable."""
    view.apply({b"a": b"1"})
    assert view.get(b"a") == b"1"
    assert view.get_many([b"a", b"b"]) == [b"1", None]


def test_a_deletion_hides_what_is_stored(view: View) -> None:
    """A tombstone that is not written yet counts already."""
    view.write({b"a": b"1", b"s|1": b"x"}, view.apply({b"a": b"1", b"s|1": b"x"}), 0, 0)
    view.apply({b"a": None, b"s|1": None})
    assert view.get(b"a") is None
    assert view.get_many([b"a"]) == [None]
    assert view.scan(b"s|", b"s}", 10) == []


def test_many_rows_are_read_by_one_call(view: View) -> None:
    """Stored, fresh, deleted and unknown rows keep the order of their keys; a key may come twice."""
    changes: dict[bytes, bytes | None] = {b"a": b"1", b"b": b"2"}
    view.write(changes, view.apply(changes), 0, 0)
    view.apply({b"b": b"3", b"c": b"4", b"a": None})
    assert view.get_many([b"c", b"b", b"a", b"none", b"b"]) == [b"4", b"3", None, None, b"3"]
    assert view.get_many([]) == []


def test_the_first_write_of_two_does_not_uncover_the_second(view: View) -> None:
    """A key changed twice before the first write keeps its newer value until that is written too."""
    first, second = view.apply({b"s|1": b"old"}), view.apply({b"s|1": b"new"})
    view.write({b"s|1": b"old"}, first, 1, 0)
    assert view.get(b"s|1") == b"new"
    assert view.scan(b"s|", b"s}", 10) == [(b"s|1", b"new")]
    view.write({b"s|1": b"new"}, second, 2, 0)
    assert view.get(b"s|1") == b"new"
    assert view.scan(b"s|", b"s}", 10) == [(b"s|1", b"new")]


def test_a_row_deleted_before_its_first_write_stays_deleted(view: View) -> None:
    """The older write puts the row into the store; the pending tombstone goes on hiding it."""
    put, deleted = view.apply({b"s|1": b"x"}), view.apply({b"s|1": None})
    view.write({b"s|1": b"x"}, put, 1, 0)
    assert view.get(b"s|1") is None
    assert view.scan(b"s|", b"s}", 10) == []
    view.write({b"s|1": None}, deleted, 2, 0)
    assert view.get(b"s|1") is None
    assert view.scan(b"s|", b"s}", 10) == []


def test_a_scan_merges_stored_and_fresh_rows(view: View) -> None:
    """The first rows of a range in order, wherever they are, and never beyond the range or the limit."""
    stored: dict[bytes, bytes | None] = {b"s|2": b"2", b"s|4": b"4", b"t|": b"not in the range"}
    view.write(stored, view.apply(stored), 0, 0)
    view.apply({b"s|1": b"1", b"s|3": b"3", b"s|9": b"9", b"s|4": None})
    assert view.scan(b"s|1", b"s|9", 10) == [(b"s|1", b"1"), (b"s|2", b"2"), (b"s|3", b"3")]
    assert view.scan(b"s|", b"s}", 2) == [(b"s|1", b"1"), (b"s|2", b"2")]
    assert view.scan(b"s|2", b"s}", 2) == [(b"s|2", b"2"), (b"s|3", b"3")]


def test_a_scan_never_shows_the_stores_own_rows(view: View) -> None:
    """Where the store stands and when it was owned are not data."""
    view.write({b"a": b"1"}, view.apply({b"a": b"1"}), 41, 42)
    assert view.scan(b"", b"\xff", 10) == [(b"a", b"1")]


def test_a_write_dates_the_store(tmp_path: Path) -> None:
    """Rows, changelog offset and date of ownership are written together."""
    store = open_store(tmp_path / "store")
    view = View(store, b"s|")
    view.write({b"a": b"1"}, view.apply({b"a": b"1"}), 41, 42)
    assert (store.get(b"a"), store.get(OFFSET_KEY), store.get(OWNED_KEY)) == (b"1", b"41", b"42")


_KEYS = st.sampled_from([b"a", b"b", b"s|1", b"s|2", b"s|3"])
_CHANGES = st.dictionaries(_KEYS, st.none() | st.binary(max_size=2), max_size=4)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.tuples(_CHANGES, st.booleans()), max_size=12))
def test_reads_are_those_of_a_plain_dictionary(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[dict[bytes, bytes | None], bool]]
) -> None:
    """However many changes wait to be written, and whenever they are, reads see all that was applied."""
    store = open_store(tmp_path_factory.mktemp("store"))
    view = View(store, b"s|")
    model: dict[bytes, bytes] = {}
    waiting: list[tuple[dict[bytes, bytes | None], int]] = []
    for changes, write_one in steps:
        waiting.append((changes, view.apply(changes)))
        for key, value in changes.items():
            if value is None:
                model.pop(key, None)
            else:
                model[key] = value
        if write_one:
            view.write(*waiting.pop(0), 0, 0)
        keys = [b"a", b"b", b"s|1", b"s|2", b"s|3"]
        assert view.get_many(keys) == [model.get(key) for key in keys]
        assert [view.get(key) for key in keys] == [model.get(key) for key in keys]
        ordered = sorted((key, value) for key, value in model.items() if key.startswith(b"s|"))
        for limit in (1, 2, 10):
            assert view.scan(b"s|", b"s}", limit) == ordered[:limit]
    for changes, sequence in waiting:
        view.write(changes, sequence, 0, 0)
    assert rows(store) == model
