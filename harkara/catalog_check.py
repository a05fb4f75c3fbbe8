"""What can be said about a catalog beyond its files being well formed: every text is really made.

Each template is filled with its type's own examples, on every channel and in every language, so
that what `harkara catalog check` accepts can be sent (R-097).
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from streams.catalog import Catalog, NotificationType, Problem, Template, UnknownPolicy
from streams.records.delivery import Delivery
from streams.rendering.bad_template import BadTemplate
from streams.rendering.message import SmsMessage
from streams.rendering.render import render
from streams.rendering.templates import variables

#: A text message of more parts than this is worth a look.
MANY_PARTS = 2


@dataclass(frozen=True)
class Text:
    """One text as it was made of examples; `parts` only for text messages."""

    type: str
    version: int
    locale: str
    channel: str
    parts: int | None
    characters: int


@dataclass(frozen=True)
class Checked:
    """Problems keep a catalog from being used, notes do not."""

    texts: tuple[Text, ...]
    problems: tuple[Problem, ...]
    notes: tuple[Problem, ...]


def checked(catalog: Catalog, providers: Collection[str]) -> Checked:
    """Return all texts of the types with what is wrong with them; `providers` are those there are."""
    texts: list[Text] = []
    problems: list[Problem] = []
    notes: list[Problem] = []
    for kind in catalog.types.values():
        path = f"types/{kind.name}/type.yaml"
        for channel, names in kind.providers.items():
            problems.extend(
                Problem(path, f"/providers/{channel}", f'"{name}" is no provider')
                for name in names
                if name not in providers
            )
        if kind.unknown in (UnknownPolicy.WAIT, UnknownPolicy.QUERY):
            notes.append(
                Problem(path, "/unknown", f"{kind.unknown} acts like give_up until there are receipts")
            )
        for template in _templates(catalog, kind):
            text = _text(catalog, kind, template)
            if isinstance(text, Text):
                texts.append(text)
                if (text.parts or 0) > MANY_PARTS:
                    notes.append(_about(template, f"goes out in {text.parts} parts, each of them billed"))
            else:
                problems.extend(text)
    return Checked(tuple(texts), tuple(problems), tuple(notes))


def _templates(catalog: Catalog, kind: NotificationType) -> Iterator[Template]:
    """Return the texts that a type's deliveries can need, of every version that is kept."""
    for template in catalog.templates.values():
        if template.name == kind.template and template.channel in kind.channels:
            yield template


def _text(catalog: Catalog, kind: NotificationType, template: Template) -> Text | list[Problem]:
    unknown = [
        _about(template, f'reads "{name}", which the data of {kind.name} does not have')
        for source in (template.title, template.body)
        for name in _unknown(source, kind)
    ]
    if unknown:
        return unknown
    message = render(_sample(kind, template), catalog)
    if isinstance(message, BadTemplate):
        return [_about(template, message.detail)]
    body = message.text if isinstance(message, SmsMessage) else message.body
    parts = message.segments if isinstance(message, SmsMessage) else None
    return Text(kind.name, template.version, template.locale, template.channel, parts, len(body))


def _unknown(source: str, kind: NotificationType) -> list[str]:
    names = variables(source)
    # What cannot be compiled says so when it is rendered.
    return [] if isinstance(names, BadTemplate) else sorted(names - kind.data.fields)


def _about(template: Template, message: str) -> Problem:
    return Problem(
        f"types/{template.name}/v{template.version}.{template.locale}.yaml", f"/{template.channel}", message
    )


def _sample(kind: NotificationType, template: Template) -> Delivery:
    return Delivery(
        delivery_id="00000000-0000-0000-0000-000000000000",
        notification_id="00000000-0000-0000-0000-000000000000",
        tenant="default",
        user_id="user",
        type=kind.name,
        category=kind.category,
        lane=kind.lane,
        channel=template.channel,
        endpoint="",
        address="",
        template=template.name,
        version=template.version,
        locale=template.locale,
        data=sample_data(kind),
        cohort_at_ms=0,
        decided_at_ms=0,
        send_until_ms=0,
        expires_at_ms=0,
    )


def sample_data(kind: NotificationType) -> dict[str, Any]:
    """Return data of a type for tests and previews: its own examples, else something of the right kind."""
    return {name: _sample_value(schema) for name, schema in kind.data.document.get("properties", {}).items()}


def _sample_value(schema: object) -> Any:
    if not isinstance(schema, dict):
        return "x"
    for keyword in ("examples", "enum"):
        if schema.get(keyword):
            return schema[keyword][0]
    match schema.get("type"):
        case "integer" | "number":
            return schema.get("minimum", 1)
        case "boolean":
            return True
        case "array":
            return [_sample_value(schema.get("items"))]
        case "object":
            return {name: _sample_value(inner) for name, inner in schema.get("properties", {}).items()}
        case _:
            return "x" * min(schema.get("maxLength", 12), 12)
