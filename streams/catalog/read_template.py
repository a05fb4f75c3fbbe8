"""One file of texts: all channels of one version in one language."""

from collections.abc import Iterator

from streams.catalog.fields import Fields, not_one_of
from streams.catalog.template import Template
from streams.topics import ACTIVE_CHANNELS, Channel

#: Channels whose messages have a title; it may then not be missing.
TITLED = (Channel.PUSH,)


def read_templates(fields: Fields, name: str, version: int, locale: str) -> Iterator[Template]:
    """Return the texts of one file, by channel."""
    for channel in fields.names():
        if channel not in ACTIVE_CHANNELS:
            fields.wrong(channel, not_one_of(channel, ACTIVE_CHANNELS))
            continue
        texts = fields.fields(channel)
        title = texts.text("title") if channel in TITLED else ""
        yield Template(name, version, locale, channel, title, texts.text("body"))
        texts.close()
