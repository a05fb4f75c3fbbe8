"""One `types/NAME/type.yaml`."""

from collections.abc import Mapping
from dataclasses import dataclass

from streams.catalog.category import Cap, Category
from streams.catalog.data_schema import ANY_DATA, DataSchema, compile_schema
from streams.catalog.fields import Fields, not_one_of
from streams.catalog.notification_type import NotificationType, Quiet, Step, UnknownPolicy
from streams.catalog.retry import RETRIES, STANDARD
from streams.topics import ACTIVE_CHANNELS, Channel, Lane

_SECOND_MS, _MINUTE_MS, _DAY_MS = 1_000, 60_000, 86_400_000
_NO_CATEGORY = Category("", False, False, None, ())


@dataclass(frozen=True, slots=True)
class Defaults:
    """What holds where a type says nothing."""

    locale: str
    providers: Mapping[str, tuple[str, ...]]


def read_type(
    fields: Fields, name: str, categories: Mapping[str, Category], defaults: Defaults
) -> NotificationType:
    """Return the type with its category's rules worked in."""
    fields.raw("about")
    category = categories.get(fields.name("category", categories), _NO_CATEGORY)
    mandatory = fields.flag("mandatory")
    if mandatory and category.marketing:
        fields.wrong("mandatory", "no marketing is mandatory")
    quiet = fields.choice("quiet_hours", Quiet, Quiet.HOLD if category.marketing else Quiet.IGNORE)
    if mandatory and quiet is not Quiet.IGNORE:
        fields.wrong("quiet_hours", "a mandatory type ignores quiet hours")
    counted = fields.flag("capped", not mandatory)
    caps: tuple[Cap, ...] = category.caps if counted and not mandatory else ()
    same_template_ms = fields.duration("same_template", 0, _MINUTE_MS, 7 * _DAY_MS)
    retry = RETRIES.get(fields.name("retry", RETRIES, STANDARD.name), STANDARD)
    steps = (Step(_channels(fields)),)
    kind = NotificationType(
        name=name,
        category=category.name,
        lane=fields.choice("lane", Lane),
        mandatory=mandatory,
        direct=fields.flag("direct"),
        marketing=category.marketing,
        needs_consent=category.needs_consent and not mandatory,
        purpose=fields.text("purpose", ""),
        steps=steps,
        providers=_providers(fields, steps[0].channels, defaults),
        template=name,
        version=fields.whole("template", 1, 1, 999_999),
        data=_data(fields),
        ttl_ms=fields.duration("ttl", None, _SECOND_MS, 30 * _DAY_MS),
        dedup_window_ms=fields.duration("dedup_window", _DAY_MS, _MINUTE_MS, 30 * _DAY_MS),
        same_template_ms=same_template_ms,
        caps=caps,
        holds_ms=max((same_template_ms, *(cap.counts_ms for cap in caps))),
        quiet=Quiet.IGNORE if mandatory else quiet,
        quiet_hours=category.quiet_hours,
        unknown=fields.choice("unknown", UnknownPolicy, UnknownPolicy.GIVE_UP),
        retry=retry,
        attempts=fields.whole("attempts", retry.attempts, 1, 20),
        retired=fields.flag("retired"),
    )
    fields.close()
    return kind


def _channels(fields: Fields) -> tuple[Channel, ...]:
    names = fields.texts("channels")
    if not names:
        fields.wrong("channels", f"must list at least one of {', '.join(ACTIVE_CHANNELS)}")
    for name in names:
        if name not in ACTIVE_CHANNELS:
            fields.wrong("channels", not_one_of(name, ACTIVE_CHANNELS))
    return tuple(Channel(name) for name in names if name in ACTIVE_CHANNELS)


def _providers(
    fields: Fields, channels: tuple[Channel, ...], defaults: Defaults
) -> dict[str, tuple[str, ...]]:
    own = fields.fields("providers")
    found = {channel: own.texts(channel) or defaults.providers.get(channel, ()) for channel in channels}
    for channel, names in found.items():
        if not names:
            fields.wrong("providers", f"names none for {channel}, nor does defaults.yaml")
    own.close()
    return {str(channel): names for channel, names in found.items()}


def _data(fields: Fields) -> DataSchema:
    document = fields.raw("data")
    schema = ANY_DATA if document is None else compile_schema(document)
    if isinstance(schema, str):
        fields.wrong("data", schema)
        return ANY_DATA
    return schema
