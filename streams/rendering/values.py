"""An event's data, made safe to print: values may have been written by users (R-101).

The data is not trusted to be short, clean or complete. Whatever is null or empty counts as
missing, so that a template never prints a blank where a name belongs (R-092, TPL-06).
"""

import math
import re
from collections.abc import Callable
from typing import Any

from liquid.exceptions import LiquidTypeError

from streams.rendering.bidi import CONTROLS, isolated, without_controls

# C0 and C1 controls but for tab and line breaks: no channel shows them, some gateways choke.
_INVISIBLE = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")
# Direction controls, and the letters written from right to left.
_DIRECTED = re.compile(f"[{CONTROLS}\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_LINK = re.compile(r"\s?(?:(?:https?://|www\.)\S+|\b[\w-]+(?:\.[\w-]+)+/\S*)", re.IGNORECASE)
# The fields by which a producer gives a link on purpose.
_LINK_FIELDS = ("url", "link")


class _Object(dict[str, Any]):
    """A nested object: a template may read its fields, never print the whole of it."""

    def __str__(self) -> str:
        raise LiquidTypeError("an object cannot be printed", token=None)


def printable(data: dict[str, Any], channel: str) -> dict[str, Any]:
    """Return the data as templates of `channel` see it: cleaned, and without what is missing."""
    return _cleaned(data, _for_sms if channel == "sms" else _for_screen)


def _cleaned(data: dict[str, Any], text: Callable[[str, str], str]) -> _Object:
    fields = _Object()
    for name, value in data.items():
        clean = _value(value, name, text)
        if clean is not None and clean != "":
            fields[name] = clean
    return fields


def _value(value: Any, name: str, text: Callable[[str, str], str]) -> Any:
    match value:
        case str():
            return text(_INVISIBLE.sub("", value), name)
        case float():
            return value if math.isfinite(value) else None
        case dict():
            return _cleaned(value, text)
        case list() | tuple():
            return [_value(item, name, text) for item in value]
        case _:
            return value


def _for_screen(value: str, name: str) -> str:
    return isolated(value) if _DIRECTED.search(value) else value


def _for_sms(value: str, name: str) -> str:
    plain = without_controls(value) if _DIRECTED.search(value) else value
    return plain if name.lower().endswith(_LINK_FIELDS) else _LINK.sub("", plain).strip()
