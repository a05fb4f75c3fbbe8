"""Schemas that say more than types and bounds of flat fields, checked by `jsonschema`."""

from collections.abc import Callable, Iterator
from typing import Any

from streams.reasons import Reason
from streams.records.unfit import Unfit


def rich_check(document: dict[str, Any]) -> Callable[[dict[str, Any]], Unfit | None] | str:
    """Return the check of a whole JSON Schema (2020-12), or what is wrong with the schema.

    References stay inside the document: a schema never fetches another one.
    """
    # Imported here: it is slow to import, and most catalogs never need it.
    from jsonschema import Draft202012Validator, SchemaError
    from referencing import Registry
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import DRAFT202012

    try:
        Draft202012Validator.check_schema(document)
    except SchemaError as error:
        return f"is no JSON Schema: {error.message}"
    own: Registry[Any] = Registry().with_resource("", DRAFT202012.create_resource(document))
    for reference in _references(document):
        try:
            own.resolver().lookup(reference)
        except Unresolvable:
            return f"refers to {reference}, which is not in it"
    validator = Draft202012Validator(document, registry=Registry())
    filled = [
        name
        for name in document.get("required", [])
        if not isinstance(schema := document["properties"][name], dict) or "minLength" not in schema
    ]

    def check(data: dict[str, Any]) -> Unfit | None:
        given = {name: value for name, value in data.items() if value is not None}
        for name in filled:
            if given.get(name) in (None, ""):
                return Unfit(Reason.MISSING_PARAMETER, f"/data/{name}", f'missing parameter "{name}"')
        error = next(iter(validator.iter_errors(given)), None)
        if error is None:
            return None
        pointer = "".join(f"/{part}" for part in ("data", *error.absolute_path))
        return Unfit(Reason.INVALID_FIELD, pointer, f"breaks the schema's {error.validator}")

    return check


def _references(schema: object) -> Iterator[str]:
    if isinstance(schema, dict):
        for name, value in schema.items():
            if name in ("$ref", "$dynamicRef") and isinstance(value, str):
                yield value
            else:
                yield from _references(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _references(value)
