"""Instants as a person types them."""

import pytest

from harkara.client.instants import read_instant, show_instant
from streams.errors import SettingError

NOW_MS = 1_796_100_000_000


@pytest.mark.parametrize(
    "text, expected",
    [
        ("+90s", NOW_MS + 90_000),
        ("+2h", NOW_MS + 7_200_000),
        ("1796100000001", 1_796_100_000_001),
        ("2026-12-01T12:00:00+06:00", 1_796_104_800_000),
        ("2026-12-01T06:00", 1_796_104_800_000),
    ],
)
def test_an_instant_is_read(text: str, expected: int) -> None:
    """From now on, in milliseconds, or as ISO 8601; without a zone it is UTC."""
    assert read_instant("--at", text, NOW_MS) == expected


@pytest.mark.parametrize("text", ["", "soon", "+", "+5", "+5 m", "+-5m", "2026-13-01"])
def test_what_is_no_instant_says_how_to_give_one(text: str) -> None:
    """The option is named, with examples."""
    with pytest.raises(SettingError, match=r"--at: give an instant as \+90s"):
        read_instant("--at", text, NOW_MS)


def test_an_instant_is_shown_in_utc() -> None:
    """People read seconds."""
    assert show_instant(1_796_104_800_000) == "2026-12-01 06:00:00 UTC"
