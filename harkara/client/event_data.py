"""The data of an event as a person types it: one JSON object, or single values."""

from collections.abc import Sequence
from typing import Any

import msgspec

from streams.errors import SettingError


def read_data(document: str | None, pairs: Sequence[str]) -> dict[str, Any]:
    """Return the data of `--data JSON` with each `-d name=value` on top.

    A value that is JSON is read as such (`-d amount=5`), any other is text; quotes make a number a
    text (`-d 'code="0042"'`). Raises SettingError that names what cannot be read.
    """
    data: dict[str, Any] = {}
    if document is not None:
        try:
            data = msgspec.json.decode(document.encode(), type=dict[str, Any])
        except msgspec.MsgspecError as error:
            raise SettingError("--data", f"give one JSON object: {error}") from None
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not name or not equals:
            raise SettingError("-d", f"give name=value, not {pair!r}")
        data[name] = _value(text)
    return data


def _value(text: str) -> Any:
    try:
        return msgspec.json.decode(text.encode())
    except msgspec.MsgspecError:
        return text
