"""One entry of `categories.yaml`."""

from streams.catalog.category import Cap, Category, QuietHours
from streams.catalog.durations import milliseconds
from streams.catalog.fields import Fields
from streams.catalog.hours import window_of
from streams.topics import ACTIVE_CHANNELS

#: What a marketing category has if it says nothing else.
MARKETING_HOURS = QuietHours(22 * 60, 8 * 60)
MARKETING_A_DAY = 3
_DAY_MS = 86_400_000
_MOST = 25  # a higher limit protects nobody, and a user's places are kept in one bounded row
_LONGEST_MS = 7 * _DAY_MS


def read_category(name: str, fields: Fields) -> Category:
    """Return the category; marketing brings its own defaults, each of which can be replaced."""
    fields.raw("about")
    marketing = fields.flag("marketing")
    category = Category(
        name,
        marketing,
        fields.flag("needs_consent", marketing),
        _quiet_hours(fields, marketing),
        _caps(name, fields, marketing),
    )
    fields.close()
    return category


def _quiet_hours(fields: Fields, marketing: bool) -> QuietHours | None:
    usual = MARKETING_HOURS if marketing else None
    if "quiet_hours" not in fields:
        return usual
    text = fields.text("quiet_hours")
    if text == "off":
        return None
    hours = window_of(text)
    if hours is None:
        fields.wrong("quiet_hours", 'must be "HH:MM-HH:MM" with different ends, or "off"')
    return hours or usual


def _caps(name: str, fields: Fields, marketing: bool) -> tuple[Cap, ...]:
    if "caps" not in fields:
        return (Cap(MARKETING_A_DAY, name),) if marketing else ()
    return tuple(_cap(name, cap) for cap in fields.each("caps"))


def _cap(name: str, fields: Fields) -> Cap:
    if "limit" not in fields:
        fields.wrong("limit", "is missing")
    limit = fields.whole("limit", MARKETING_A_DAY, 0, _MOST)
    per = fields.text("per", "day")
    window_ms = 0 if per == "day" else milliseconds(per) or 0
    if per != "day" and not 0 < window_ms <= _LONGEST_MS:
        fields.wrong("per", 'must be "day" (the user\'s own) or a duration up to "7d"')
    over = "*" if fields.name("over", ("category", "all"), "category") == "all" else name
    cap = Cap(limit, over, fields.name("channel", (*ACTIVE_CHANNELS, "*"), "*"), window_ms)
    fields.close()
    return cap
