"""Data is checked against its type's schema: quickly where the schema is plain, alike where it is not."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from streams.catalog.data_schema import DataSchema, compile_schema
from streams.catalog.plain_fields import NotPlain, struct_of
from streams.reasons import Reason

PLAIN: dict[str, Any] = {
    "type": "object",
    "required": ["name", "count"],
    "properties": {
        "name": {"type": "string", "maxLength": 5},
        "count": {"type": "integer", "minimum": 1, "maximum": 9},
        "price": {"type": "number"},
        "kind": {"enum": ["a", "b"], "type": "string"},
        "flag": {"type": "boolean"},
        "order-id": {"type": "string", "pattern": "^[0-9]+$"},
    },
}
RICH = PLAIN | {"dependentRequired": {"price": ["kind"]}}


def compiled(document: object) -> DataSchema:
    """Return the compiled schema."""
    found = compile_schema(document)
    assert isinstance(found, DataSchema), found
    return found


@pytest.mark.parametrize("document", [PLAIN, RICH], ids=["plain", "rich"])
@pytest.mark.parametrize(
    ("data", "reason", "pointer"),
    [
        ({"count": 1}, Reason.MISSING_PARAMETER, "/data/name"),
        ({"name": None, "count": 1}, Reason.MISSING_PARAMETER, "/data/name"),
        ({"name": "", "count": 1}, Reason.MISSING_PARAMETER, "/data/name"),
        ({"name": "Rahim"}, Reason.MISSING_PARAMETER, "/data/count"),
        ({"name": 7, "count": 1}, Reason.INVALID_FIELD, "/data/name"),
        ({"name": "Rahim", "count": "1"}, Reason.INVALID_FIELD, "/data/count"),
        ({"name": "Rahim", "count": True}, Reason.INVALID_FIELD, "/data/count"),
        ({"name": "Rahim", "count": 0}, Reason.INVALID_FIELD, "/data/count"),
        ({"name": "Rahim", "count": 10}, Reason.INVALID_FIELD, "/data/count"),
        ({"name": "Rahima", "count": 1}, Reason.INVALID_FIELD, "/data/name"),
        ({"name": "Rahim", "count": 1, "kind": "secret"}, Reason.INVALID_FIELD, "/data/kind"),
        ({"name": "Rahim", "count": 1, "flag": 1}, Reason.INVALID_FIELD, "/data/flag"),
        ({"name": "Rahim", "count": 1, "order-id": "x1"}, Reason.INVALID_FIELD, "/data/order-id"),
    ],
)
def test_what_the_schema_refuses_is_pointed_at(
    document: dict[str, Any], data: dict[str, Any], reason: Reason, pointer: str
) -> None:
    """Missing, null and empty are missing parameters; nothing quotes a value (R-031, R-092, TPL-06)."""
    found = compiled(document).check(data)
    assert found is not None
    assert (found.reason, found.pointer) == (reason, pointer)
    assert "secret" not in found.detail
    assert "Rahima" not in found.detail


@pytest.mark.parametrize("document", [PLAIN, RICH], ids=["plain", "rich"])
@pytest.mark.parametrize("more", [{}, {"price": None}, {"price": 3, "kind": "a"}, {"extra": [1, {"x": 2}]}])
def test_what_is_optional_may_be_missing_null_or_more(document: dict[str, Any], more: dict[str, Any]) -> None:
    """A null stands for what is not there; further fields are nobody's business (TPL-06)."""
    assert compiled(document).check({"name": "Rahim", "count": 1} | more) is None


def test_rich_rules_are_rules() -> None:
    """What a struct cannot check is still checked."""
    found = compiled(RICH).check({"name": "Rahim", "count": 1, "price": 2})
    assert found is not None
    assert (found.reason, found.pointer) == (Reason.INVALID_FIELD, "/data")


def test_plain_schemas_need_no_jsonschema() -> None:
    """The fast way is taken where it can be, and only there."""
    assert struct_of(PLAIN["properties"], frozenset(PLAIN["required"]), PLAIN)
    with pytest.raises(NotPlain):
        struct_of(RICH["properties"], frozenset(RICH["required"]), RICH)


def test_a_closed_schema_refuses_strangers() -> None:
    """`additionalProperties: false` is heeded."""
    found = compiled(PLAIN | {"additionalProperties": False}).check({"name": "a", "count": 1, "x": 1})
    assert found is not None
    assert found.reason is Reason.INVALID_FIELD


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ([], "not a JSON Schema"),
        ({"type": "string"}, "no object"),
        ({"required": ["x"]}, "requires x"),
        ({"properties": []}, "needs `properties`"),
        ({"properties": {1: {}}}, "no text"),
        ({"properties": {"x": {"type": "strnig"}}}, "is no JSON Schema"),
        ({"properties": {"x": {"pattern": "["}}}, "no regular expression"),
        ({"properties": {"x": {"$ref": "#/$defs/y"}}}, "refers to #/$defs/y"),
        ({"properties": {"x": {"$ref": "http://example.com/schema"}}}, "refers to http"),
    ],
)
def test_a_schema_that_cannot_work_is_refused(document: object, says: str) -> None:
    """At the load, not at the first event; nothing is ever fetched."""
    found = compile_schema(document)
    assert isinstance(found, str)
    assert says in found


def test_nested_data_is_checked_where_it_is() -> None:
    """Definitions inside the document work, and the pointer goes down."""
    schema = compiled(
        {
            "$defs": {
                "item": {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}}
            },
            "properties": {"items": {"type": "array", "items": {"$ref": "#/$defs/item"}}},
        }
    )
    assert schema.check({"items": [{"id": 1}]}) is None
    found = schema.check({"items": [{"id": 1}, {"id": "x"}]})
    assert found is not None
    assert found.pointer == "/data/items/1/id"


VALUES = st.none() | st.booleans() | st.integers(-2, 12) | st.floats(0.5, 2) | st.text("ab1", max_size=6)


@given(data=st.dictionaries(st.sampled_from([*PLAIN["properties"], "extra"]), VALUES))
def test_the_fast_check_agrees_with_the_standard(data: dict[str, Any]) -> None:
    """Both take the same data, but for what is stricter on purpose: blanks and nulls of required fields."""
    given_data = {name: value for name, value in data.items() if value is not None}
    standard = Draft202012Validator(PLAIN).is_valid(given_data) and given_data.get("name") != ""
    whole = [v for v in given_data.values() if isinstance(v, float) and v.is_integer()]
    if not whole:  # JSON Schema takes 1.0 for an integer
        assert (compiled(PLAIN).check(data) is None) is standard
