"""The data of an event as a person types it."""

import pytest

from harkara.client.event_data import read_data
from streams.errors import SettingError


def test_single_values_are_put_on_top_of_the_document() -> None:
    """`-d` beats `--data`; what is JSON is read as such, the rest is text."""
    data = read_data('{"a": 1, "b": "x"}', ["b=2", "c=Dhaka", 'd="0042"', "e=", "f=x=y"])
    assert data == {"a": 1, "b": 2, "c": "Dhaka", "d": "0042", "e": "", "f": "x=y"}


@pytest.mark.parametrize("document", ["[1]", "{", "5"])
def test_the_document_must_be_an_object(document: str) -> None:
    """Anything else names the option."""
    with pytest.raises(SettingError, match="--data: give one JSON object"):
        read_data(document, [])


@pytest.mark.parametrize("pair", ["code", "=1"])
def test_a_value_needs_a_name(pair: str) -> None:
    """A pair without a name or an equals sign is refused."""
    with pytest.raises(SettingError, match="-d: give name=value"):
        read_data(None, [pair])
