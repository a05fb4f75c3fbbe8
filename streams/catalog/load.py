"""Files become a catalog, or a list of everything that is wrong with them. Pure: texts in, value out."""

import re
from collections.abc import Mapping

import xxhash

from streams.catalog.catalog import Catalog, TemplateKey, topics_of
from streams.catalog.category import Category
from streams.catalog.documents import read_document
from streams.catalog.fields import Fields, not_one_of
from streams.catalog.notification_type import NotificationType
from streams.catalog.problem import Problem
from streams.catalog.read_category import read_category
from streams.catalog.read_template import read_templates
from streams.catalog.read_type import Defaults, read_type
from streams.catalog.template import Template
from streams.catalog.tenant import DEFAULT_TENANT, Tenant

_NAME = "[a-z][a-z0-9_]{0,63}"
_TYPE = re.compile(rf"types/({_NAME})/type\.yaml")
_TEXTS = re.compile(rf"types/({_NAME})/v([1-9]\d{{0,5}})\.([A-Za-z]{{2,3}}(?:-[A-Za-z0-9]{{2,8}})*)\.yaml")
DEFAULTS, TENANTS, CATEGORIES = "defaults.yaml", "tenants.yaml", "categories.yaml"


def load(files: Mapping[str, str], topics: Mapping[str, str] | None = None) -> Catalog | tuple[Problem, ...]:
    """Return the catalog, or all problems of its files.

    `files` maps paths inside the catalog's folder ("types/otp/type.yaml") to their texts;
    `topics` maps further ingest topics to their tenants.
    """
    problems: list[Problem] = []
    documents: dict[str, object] = {}
    for path, text in sorted(files.items()):
        match read_document(path, text):
            case Problem() as problem:
                problems.append(problem)
            case document:
                documents[path] = document
    for path in (DEFAULTS, TENANTS, CATEGORIES):
        if path not in files:
            problems.append(Problem(path, "", "is missing"))
    defaults = _defaults(Fields(DEFAULTS, "", documents.get(DEFAULTS), problems))
    tenants = _tenants(Fields(TENANTS, "", documents.get(TENANTS), problems), defaults)
    categories = _categories(Fields(CATEGORIES, "", documents.get(CATEGORIES), problems))
    templates: dict[TemplateKey, Template] = {}
    types: dict[str, NotificationType] = {}
    for path, document in documents.items():
        if found := _TEXTS.fullmatch(path):
            name, version, locale = found.groups()
            fields = Fields(path, "", document, problems)
            for template in read_templates(fields, name, int(version), locale):
                templates[template.name, template.version, template.locale, template.channel] = template
    for path, document in documents.items():
        if found := _TYPE.fullmatch(path):
            fields = Fields(path, "", document, problems)
            kind = read_type(fields, found[1], categories, defaults)
            _has_texts(fields, kind, templates, defaults.locale)
            types[kind.name] = kind
        elif path not in (DEFAULTS, TENANTS, CATEGORIES) and not _TEXTS.fullmatch(path):
            problems.append(
                Problem(path, "", "is no file of a catalog: types/NAME/type.yaml or v1.LOCALE.yaml")
            )
    for tenant in (topics or {}).values():
        if tenant not in tenants:
            problems.append(Problem(TENANTS, "", not_one_of(tenant, tenants)))
    if problems:
        return tuple(sorted(problems, key=str))
    spoken = {template.locale.lower(): template.locale for template in templates.values()}
    return Catalog(
        types,
        categories,
        tenants,
        templates,
        spoken,
        defaults.locale,
        topics_of(topics or {}),
        _print_of(files),
    )


def _print_of(files: Mapping[str, str]) -> str:
    content = "\x1f".join(f"{path}\x1e{files[path]}" for path in sorted(files))
    return xxhash.xxh3_128_hexdigest(content.encode())


def _defaults(fields: Fields) -> Defaults:
    locale = fields.text("locale", "en")
    providers = fields.fields("providers")
    by_channel = {channel: providers.texts(channel) for channel in providers.names()}
    fields.close()
    return Defaults(locale, by_channel)


def _tenants(fields: Fields, defaults: Defaults) -> dict[str, Tenant]:
    found = {}
    for name in fields.names():
        tenant = fields.fields(name)
        found[name] = Tenant(name, tenant.text("zone", "UTC"), tenant.text("locale", defaults.locale))
        tenant.close()
    if DEFAULT_TENANT not in found:
        fields.wrong("", f"needs the tenant `{DEFAULT_TENANT}`, who owns our own ingest topics")
    return found


def _categories(fields: Fields) -> dict[str, Category]:
    return {name: read_category(name, fields.fields(name)) for name in fields.names()}


def _has_texts(
    fields: Fields, kind: NotificationType, templates: Mapping[TemplateKey, Template], locale: str
) -> None:
    """Refuse a type that could meet a reader without any text for them (I18-04)."""
    for channel in kind.channels:
        found = templates.get((kind.template, kind.version, locale, channel))
        if found is None or not found.body:
            where = f"v{kind.version}.{locale}.yaml"
            fields.wrong("channels", f"has no {channel} text in the last-resort language: write {where}")
