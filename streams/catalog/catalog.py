"""The catalog: one immutable value that every process loads whole."""

from collections.abc import Mapping
from dataclasses import dataclass

from streams.catalog.category import Category
from streams.catalog.notification_type import NotificationType
from streams.catalog.template import Template
from streams.catalog.tenant import DEFAULT_TENANT, Tenant
from streams.topics import INGEST

TemplateKey = tuple[str, int, str, str]  # name, version, locale, channel


@dataclass(frozen=True)
class Catalog:
    """Types, categories, tenants and templates by name.

    `locale` is the language every template has, the last resort of every reader. `topics` maps
    further ingest topics to tenants. `fingerprint` changes with every character of the files.
    """

    types: Mapping[str, NotificationType]
    categories: Mapping[str, Category]
    tenants: Mapping[str, Tenant]
    templates: Mapping[TemplateKey, Template]
    spoken: Mapping[str, str]  # locales of the templates, lower case -> as written
    locale: str
    topics: Mapping[str, str]
    fingerprint: str

    def type(self, name: str) -> NotificationType | None:
        """Return the type, retired ones too, or None if there is none."""
        return self.types.get(name)

    def template(self, name: str, version: int, locale: str, channel: str) -> Template | None:
        """Return exactly this text, or None; `locales` says which to try instead."""
        return self.templates.get((name, version, locale, channel))

    def locales(self, locale: str) -> tuple[str, ...]:
        """Return the languages to try for a reader, best first (RFC 4647 lookup, then the last resort)."""
        tag = locale.lower().replace("_", "-")
        found = []
        while tag:
            if tag in self.spoken:
                found.append(self.spoken[tag])
            tag = tag.rpartition("-")[0]
        return tuple(dict.fromkeys((*found, self.locale)))

    def tenant_of(self, topic: str) -> str:
        """Return the tenant who owns an ingest topic; LookupError for a topic nobody owns."""
        return self.topics[topic]


def topics_of(more: Mapping[str, str]) -> dict[str, str]:
    """Return which tenant owns which topic: our own lanes are the default tenant's."""
    return {topic.full_name: DEFAULT_TENANT for topic in INGEST.values()} | dict(more)
