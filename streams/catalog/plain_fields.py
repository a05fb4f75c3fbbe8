"""JSON Schemas that are a flat object of plain fields become a msgspec struct."""

from typing import Annotated, Any, Literal

import msgspec

_TYPES: dict[str, Any] = {"string": str, "integer": int, "number": float, "boolean": bool}
_ANNOTATIONS = frozenset({"type", "title", "description", "examples", "default"})
_BOUNDS = {
    "string": {"minLength": "min_length", "maxLength": "max_length", "pattern": "pattern"},
    "integer": {"minimum": "ge", "maximum": "le"},
    "number": {"minimum": "ge", "maximum": "le"},
    "boolean": {},
}
_OF_THE_OBJECT = frozenset(
    {"type", "title", "description", "examples", "properties", "required", "additionalProperties"}
)


class NotPlain(Exception):
    """The schema says more than a struct can check."""


def struct_of(
    fields: dict[str, Any], required: frozenset[str], document: dict[str, Any]
) -> type[msgspec.Struct]:
    """Return a struct that takes the objects the schema takes; raises NotPlain.

    Stricter in one way: a required field is never null, nor an empty string unless it has a
    `minLength`. Laxer in another: null stands for an optional field that is not there (TPL-06).
    """
    closed = document.get("additionalProperties", True)
    if not document.keys() <= _OF_THE_OBJECT or not isinstance(closed, bool):
        raise NotPlain
    members: list[Any] = []
    names: dict[str, str] = {}
    for name, schema in fields.items():
        if not isinstance(schema, dict):
            raise NotPlain
        member = f"f{len(names)}"
        names[member] = name
        kind = _field(schema, name in required)
        members.append((member, kind) if name in required else (member, kind, None))
    return msgspec.defstruct(
        "Data",
        members,
        rename=names,
        frozen=True,
        gc=False,
        kw_only=True,
        forbid_unknown_fields=not closed,
    )


def _field(schema: dict[str, Any], required: bool) -> Any:
    kind = schema.get("type")
    if isinstance(kind, list) and len(kind) == 2 and "null" in kind:
        kind = next(name for name in kind if name != "null")
    if not isinstance(kind, str) or kind not in _TYPES:
        raise NotPlain
    rest = schema.keys() - _ANNOTATIONS
    if rest == {"enum"} and all(isinstance(value, str) for value in schema["enum"]):
        made: Any = Literal[tuple(schema["enum"])]
    elif rest <= _BOUNDS[kind].keys():
        made = _bounded(kind, schema, rest, required)
    else:
        raise NotPlain
    return made if required else made | None


def _bounded(kind: str, schema: dict[str, Any], rest: set[str], required: bool) -> Any:
    bounds = {_BOUNDS[kind][keyword]: schema[keyword] for keyword in rest}
    if kind == "string" and required:
        bounds.setdefault("min_length", 1)
    if not bounds:
        return _TYPES[kind]
    try:
        return Annotated[_TYPES[kind], msgspec.Meta(**bounds)]
    except (TypeError, ValueError):
        raise NotPlain from None  # jsonschema says what is wrong with it
