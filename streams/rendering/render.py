"""A delivery becomes a message, late: in the sender, by the version its decision pinned (R-104)."""

from typing import Protocol

from streams.records.delivery import Delivery
from streams.rendering.bad_template import BadTemplate
from streams.rendering.lines import one_line, plain_lines
from streams.rendering.message import Message
from streams.rendering.push import push
from streams.rendering.sms import sms
from streams.rendering.templates import compiled, filled
from streams.rendering.values import printable


class Template(Protocol):
    """One text of one version, in one language, for one channel."""

    @property
    def locale(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def body(self) -> str: ...


class Catalog(Protocol):
    """What rendering needs of the catalog."""

    def template(self, name: str, version: int, locale: str, channel: str) -> Template | None: ...

    def locales(self, locale: str) -> tuple[str, ...]: ...


def render(delivery: Delivery, catalog: Catalog) -> Message | BadTemplate:
    """Return the message for the delivery's channel, whole in one language of its locale's chain.

    Pure, and it never raises for what is in a template or in the data: the same delivery and
    catalog always give the same message or the same reason against it.
    """
    outcome = _rendered(delivery, catalog)
    if isinstance(outcome, BadTemplate):
        place = f"{delivery.template}@{delivery.version} {delivery.channel} {delivery.locale}".rstrip()
        return BadTemplate(f"{place}: {outcome.detail}")
    return outcome


def _rendered(delivery: Delivery, catalog: Catalog) -> Message | BadTemplate:
    template = _template(delivery, catalog)
    if template is None:
        return BadTemplate("no such template")
    data = printable(delivery.data, delivery.channel)
    language = template.locale.replace("_", "-").partition("-")[0].lower()
    title, body = _filled(template.title, language, data), _filled(template.body, language, data)
    if isinstance(title, BadTemplate):
        return title
    if isinstance(body, BadTemplate):
        return body
    if not (body := plain_lines(body)):
        return BadTemplate("the body is empty")
    match delivery.channel:
        case "push":
            return push(one_line(title), body, delivery)
        case "sms":
            return sms(body)
        case channel:
            return BadTemplate(f"nothing renders for channel {channel}")


def _template(delivery: Delivery, catalog: Catalog) -> Template | None:
    """Return the first complete translation: a message is never a mixture of two (I18-04)."""
    for locale in catalog.locales(delivery.locale):
        found = catalog.template(delivery.template, delivery.version, locale, delivery.channel)
        if found is not None and found.body:
            return found
    return None


def _filled(source: str, language: str, data: dict[str, object]) -> str | BadTemplate:
    if "{" not in source and "}" not in source:
        return source
    template = compiled(source, language)
    return template if isinstance(template, BadTemplate) else filled(template, data)
