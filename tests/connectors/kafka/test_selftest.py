"""The transport refuses to start on other versions than it was proven with."""

import pytest

from connectors.kafka import selftest as module
from connectors.kafka.selftest import selftest
from streams.errors import TransportChanged


def test_what_is_installed_is_what_was_proven() -> None:
    """Pins and private names agree with this environment."""
    selftest()


def test_another_version_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says what was found and what was proven."""
    monkeypatch.setitem(module.PINS, "aiokafka", "0.0.1")
    with pytest.raises(TransportChanged, match=r"aiokafka is .*, this transport was proven with 0\.0\.1"):
        selftest()


@pytest.mark.parametrize(
    ("place", "names", "told"),
    [
        ("aiokafka.consumer.fetcher:Fetcher", ("fetched_records", "_gone"), "Fetcher has no _gone"),
        ("aiokafka.consumer.fetcher:Gone", ("anything",), "fetcher:Gone has no anything"),
    ],
    ids=["a name", "a class"],
)
def test_a_vanished_name_is_named(
    monkeypatch: pytest.MonkeyPatch, place: str, names: tuple[str, ...], told: str
) -> None:
    """A method that is gone, an attribute no longer set, or the class itself."""
    monkeypatch.setitem(module.NAMES, place, names)
    with pytest.raises(TransportChanged, match=told):
        selftest()
