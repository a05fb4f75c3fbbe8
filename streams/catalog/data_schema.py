"""The schema of a type's data, compiled once into a check that costs well under a microsecond.

Flat objects of plain fields are checked by msgspec; whatever says more goes to `jsonschema`. A
required text must not be empty: a blank never goes out where a value belongs (R-092, TPL-06).
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from streams.catalog.plain_fields import NotPlain, struct_of
from streams.catalog.rich_schema import rich_check
from streams.reasons import Reason
from streams.records.codec import pointer_of
from streams.records.unfit import Unfit

Check = Callable[[dict[str, Any]], Unfit | None]


@dataclass(frozen=True, slots=True)
class DataSchema:
    """What a type's data must be; `fields` are all that its templates may read."""

    document: dict[str, Any]
    fields: frozenset[str]
    required: frozenset[str]
    check: Check


#: The schema of a type that takes no data of its own.
ANY_DATA = DataSchema({"type": "object"}, frozenset(), frozenset(), lambda data: None)


def compile_schema(document: object) -> DataSchema | str:
    """Return the compiled schema, or what is wrong with it."""
    if not isinstance(document, dict):
        return "is not a JSON Schema object"
    if document.get("type", "object") != "object":
        return "describes no object; the data of an event is always one"
    fields, required = document.get("properties", {}), document.get("required", [])
    if not isinstance(fields, dict) or not isinstance(required, list):
        return "needs `properties` as an object and `required` as a list"
    if not all(isinstance(name, str) for name in fields):
        return "has a property whose name is no text"
    if unknown := [name for name in required if name not in fields]:
        return f"requires {unknown[0]}, which `properties` does not describe"
    if bad := _bad_pattern(document):
        return f"has a pattern that is no regular expression: {bad}"
    try:
        check = _plain_check(struct_of(fields, frozenset(required), document))
    except NotPlain:
        rich = rich_check(document)
        if isinstance(rich, str):
            return rich
        check = rich
    return DataSchema(document, frozenset(fields), frozenset(required), check)


def _plain_check(shape: type[msgspec.Struct]) -> Check:
    convert = msgspec.convert

    def check(data: dict[str, Any]) -> Unfit | None:
        try:
            convert(data, shape)
        except msgspec.ValidationError as error:
            return _unfit(error)
        return None

    return check


def _unfit(error: msgspec.ValidationError) -> Unfit:
    """Return the refusal; msgspec names types and lengths, and a value only for an enum."""
    text = str(error).partition(" - at ")[0]
    pointer = "/data" + pointer_of(error)
    if text.startswith("Object missing required field"):
        name = text.split("`")[1]
        return Unfit(Reason.MISSING_PARAMETER, f"{pointer}/{name}", f'missing parameter "{name}"')
    if text.endswith(("got `null`", "of length >= 1")):
        name = pointer.rpartition("/")[2]
        return Unfit(Reason.MISSING_PARAMETER, pointer, f'missing parameter "{name}"')
    if text.startswith("Invalid enum value"):
        text = "not one of the values the type allows"
    return Unfit(Reason.INVALID_FIELD, pointer, text)


def _bad_pattern(document: object) -> str | None:
    for schema in _schemas(document):
        pattern = schema.get("pattern")
        try:
            re.compile(pattern if isinstance(pattern, str) else "")
        except re.error:
            return str(pattern)
    return None


def _schemas(document: object) -> Iterator[dict[str, Any]]:
    if isinstance(document, dict):
        yield document
        for value in document.values():
            yield from _schemas(value)
    elif isinstance(document, list):
        for value in document:
            yield from _schemas(value)
