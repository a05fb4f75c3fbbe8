"""Files become a catalog; every mistake is found, with its place and a way to mend it."""

import pytest

from streams.catalog import (
    RETRIES,
    Cap,
    Catalog,
    NotificationType,
    Problem,
    Quiet,
    QuietHours,
    UnknownPolicy,
    load,
)
from streams.topics import Channel, Lane

FILES = {
    "defaults.yaml": "locale: en\nproviders: {push: [fcm], sms: [twilio]}",
    "tenants.yaml": "default: {zone: Asia/Dhaka, locale: bn}",
    "categories.yaml": "order: {}\nmarketing: {marketing: true}",
    "types/offer/type.yaml": "category: marketing\nlane: bulk\nttl: 2d\nchannels: [push]",
    "types/offer/v1.en.yaml": "push: {title: Offer, body: All}",
    "types/offer/v1.bn.yaml": "push: {title: অফার, body: সব}",
}


def good(**changed: str) -> Catalog:
    """Load the files with some replaced; they must be fine."""
    found = load(FILES | _paths(changed))
    assert isinstance(found, Catalog), found
    return found


def bad(**changed: str) -> list[Problem]:
    """Load the files with some replaced; they must not be fine."""
    found = load(FILES | _paths(changed))
    assert isinstance(found, tuple)
    return list(found)


def _paths(changed: dict[str, str]) -> dict[str, str]:
    names = {"offer": "types/offer/type.yaml", "texts": "types/offer/v1.en.yaml"}
    return {names.get(name, f"{name}.yaml"): text for name, text in changed.items()}


def offer(text: str) -> NotificationType:
    """Load a type."""
    kind = good(offer=text).type("offer")
    assert kind is not None
    return kind


OFFER = FILES["types/offer/type.yaml"]


def test_a_type_brings_what_its_category_says() -> None:
    """Marketing: consent, the night, three a day; the rest are defaults."""
    kind = offer(OFFER)
    assert (kind.lane, kind.channels, kind.category) == (Lane.BULK, (Channel.PUSH,), "marketing")
    assert (kind.needs_consent, kind.quiet, kind.quiet_hours) == (True, Quiet.HOLD, QuietHours(1320, 480))
    assert kind.caps == (Cap(3, "marketing"),)
    assert (kind.ttl_ms, kind.dedup_window_ms, kind.same_template_ms) == (2 * 86_400_000, 86_400_000, 0)
    assert (kind.unknown, kind.retry, kind.attempts) == (UnknownPolicy.GIVE_UP, RETRIES["standard"], 6)
    assert (kind.template, kind.version) == ("offer", 1)
    assert kind.providers_for("push") == ("fcm",)
    assert kind.providers_for("sms") == ()


def test_a_type_can_say_otherwise() -> None:
    """Each default has its key."""
    kind = offer(
        f"{OFFER}\nquiet_hours: drop\ncapped: false\nsame_template: 6h\ndedup_window: 2h\nunknown: resend\n"
        "retry: fast\nattempts: 2\nproviders: {push: [other, fcm]}\npurpose: p\ndirect: true"
    )
    assert (kind.quiet, kind.caps, kind.same_template_ms, kind.holds_ms) == (
        Quiet.DROP,
        (),
        6 * 3_600_000,
        6 * 3_600_000,
    )
    assert (kind.dedup_window_ms, kind.unknown, kind.retry.name, kind.attempts) == (
        2 * 3_600_000, UnknownPolicy.RESEND, "fast", 2,
    )  # fmt: skip
    assert (kind.providers_for("push"), kind.purpose, kind.direct) == (("other", "fcm"), "p", True)


def test_a_mandatory_type_heeds_no_caps_and_no_night() -> None:
    """Whatever its category has."""
    kind = offer("category: order\nlane: critical\nttl: 5m\nchannels: [push]\nmandatory: true")
    assert (kind.caps, kind.quiet, kind.needs_consent, kind.holds_ms) == ((), Quiet.IGNORE, False, 0)


@pytest.mark.parametrize(
    ("text", "pointer", "says"),
    [
        (OFFER.replace("lane", "lnae"), "/lnae", 'did you mean "lane"?'),
        (OFFER.replace("lane: bulk", "lane: bluk"), "/lane", 'did you mean "bulk"?'),
        (OFFER.replace("lane: bulk\n", ""), "/lane", "is missing"),
        (OFFER.replace("marketing", "marketting"), "/category", 'did you mean "marketing"?'),
        (OFFER.replace("ttl: 2d", "ttl: 2"), "/ttl", "duration"),
        (OFFER.replace("ttl: 2d\n", ""), "/ttl", "is missing"),
        (OFFER.replace("[push]", "[puhs]"), "/channels", 'did you mean "push"?'),
        (OFFER.replace("[push]", "[push, push]"), "/channels", "twice"),
        (OFFER.replace("[push]", "[]"), "/channels", "at least one"),
        (OFFER.replace("[push]", "[push, email]"), "/channels", "not known"),
        (OFFER.replace("[push]", "[push, sms]"), "/channels", "no sms text in the last-resort language"),
        (f"{OFFER}\ntemplate: 2", "/channels", "write v2.en.yaml"),
        (f"{OFFER}\nmandatory: true", "/mandatory", "no marketing is mandatory"),
        (f"{OFFER}\nmandatory: yes", "/mandatory", "true or false"),
        (f"{OFFER}\nattempts: 0", "/attempts", "from 1 to 20"),
        (f"{OFFER}\nattempts: true", "/attempts", "from 1 to 20"),
        (f"{OFFER}\nunknown: hope", "/unknown", "resend"),
        (f"{OFFER}\nproviders: {{sms: [x]}}", "/providers/sms", "not known"),
        (f"{OFFER}\nsame_template: 30d", "/same_template", "duration"),
        (f"{OFFER}\ndata: [1]", "/data", "is not a JSON Schema"),
        (f"{OFFER}\ndata: {{required: [x]}}", "/data", "requires x"),
        (f"{OFFER}\nttl: 1d", "", "ttl stands here twice"),
        ("- a", "", "mapping"),
        ("a: [", "", "line"),
    ],
)
def test_a_mistake_in_a_type_is_shown_with_its_place(text: str, pointer: str, says: str) -> None:
    """And the nearest thing that exists, where there is one."""
    problems = bad(offer=text)
    assert any(
        p.path == "types/offer/type.yaml" and p.pointer == pointer and says in p.message for p in problems
    ), problems


@pytest.mark.parametrize(
    ("name", "text", "pointer", "says"),
    [
        ("categories", "marketing: {quiet_hours: '1:00-1:00'}", "/marketing/quiet_hours", "ends"),
        ("categories", "marketing: {marketing: true, quiet_hours: 22-8}", "/marketing/quiet_hours", "HH:MM"),
        ("categories", "marketing: {caps: [{limit: -1}]}", "/marketing/caps/0/limit", "whole number"),
        ("categories", "marketing: {caps: [{limit: '3'}]}", "/marketing/caps/0/limit", "whole number"),
        ("categories", "marketing: {caps: [{limit: 2.5}]}", "/marketing/caps/0/limit", "whole number"),
        ("categories", "marketing: {caps: [{}]}", "/marketing/caps/0/limit", "is missing"),
        ("categories", "marketing: {caps: [{limit: 1, per: 8d}]}", "/marketing/caps/0/per", "7d"),
        ("categories", "marketing: {caps: [{limit: 1, channel: x}]}", "/marketing/caps/0/channel", "known"),
        ("categories", "marketing: {marketng: true}", "/marketing/marketng", 'did you mean "marketing"?'),
        ("tenants", "other: {zone: UTC}", "", "default"),
        ("tenants", "default: {zoen: UTC}", "/default/zoen", 'did you mean "zone"?'),
        ("defaults", "locale: en", "/providers", "names none for push"),
        ("texts", "push: {title: t}", "/push/body", "is missing"),
        ("texts", "push: {body: b}", "/push/title", "is missing"),
        ("texts", "sms: {title: t, body: b}", "/sms/title", "not known"),
        ("texts", "phsu: {body: b}", "/phsu", 'did you mean "push"?'),
        ("notes", "a: 1", "", "no file of a catalog"),
    ],
)  # fmt: skip
def test_a_mistake_in_another_file_is_shown_with_its_place(
    name: str, text: str, pointer: str, says: str
) -> None:
    """Categories, tenants, texts and strangers (CAP-02, QTZ-07, I18-04)."""
    problems = bad(**{name: text})
    assert any(problem.pointer == pointer and says in problem.message for problem in problems), problems


def test_all_mistakes_are_shown_at_once() -> None:
    """Nobody mends one a run."""
    problems = bad(offer="categroy: x\nlane: y\nchannels: [z]", tenants="{}")
    assert len(problems) >= 5
    assert len({problem.path for problem in problems}) == 2


@pytest.mark.parametrize(
    ("caps", "expected"),
    [
        ("null", ()),  # no cap
        ("[]", ()),
        ("[{limit: 0}]", (Cap(0, "marketing"),)),  # nothing at all, and visible as such
        ("[{limit: 1, per: 7d, channel: push}]", (Cap(1, "marketing", "push", 7 * 86_400_000),)),
        ("[{limit: 5, over: all}]", (Cap(5, "*"),)),
    ],
)
def test_no_cap_and_a_cap_of_nothing_are_two_things(caps: str, expected: tuple[Cap, ...]) -> None:
    """An empty value means unlimited, 0 means none (CAP-02)."""
    found = good(categories=f"marketing: {{marketing: true, caps: {caps}}}")
    assert found.categories["marketing"].caps == expected


def test_yaml_means_what_its_author_wrote() -> None:
    """`off` is a word, 22:00 a time, and no dates appear (YAML 1.2)."""
    found = good(
        categories="marketing: {marketing: true, quiet_hours: off}\norder: {quiet_hours: 23:00-24:00}"
    )
    assert found.categories["marketing"].quiet_hours is None
    assert found.categories["order"].quiet_hours == QuietHours(1380, 0)


@pytest.mark.parametrize(
    ("asked", "tried"),
    [
        ("bn-BD", ("bn", "en")),
        ("bn_BD", ("bn", "en")),
        ("BN", ("bn", "en")),
        ("bn-Beng-BD", ("bn", "en")),
        ("en-GB", ("en",)),
        ("fr", ("en",)),
        ("", ("en",)),
    ],
)
def test_every_spelling_of_a_language_finds_its_texts(asked: str, tried: tuple[str, ...]) -> None:
    """Region, script, separator and case; at last the language that has every text (I18-03, R-095)."""
    assert good().locales(asked) == tried


def test_texts_are_found_exactly() -> None:
    """By name, version, language and channel; nothing else answers."""
    catalog = good()
    found = catalog.template("offer", 1, "bn", "push")
    assert found is not None
    assert (found.title, found.body) == ("অফার", "সব")
    assert catalog.template("offer", 2, "bn", "push") is None
    assert catalog.template("offer", 1, "bn", "sms") is None


def test_older_versions_stay() -> None:
    """What waits is rendered by the version it was decided with."""
    catalog = load(FILES | {"types/offer/v2.en.yaml": "push: {title: New, body: Text}"})
    assert isinstance(catalog, Catalog)
    assert catalog.template("offer", 1, "en", "push") is not None
    assert catalog.template("offer", 2, "en", "push") is not None


def test_topics_have_owners() -> None:
    """Our own lanes are the default tenant's; further ones are mapped, to tenants that exist."""
    more = FILES | {"tenants.yaml": "default: {}\nshop: {zone: Europe/Berlin}"}
    catalog = load(more, {"shop.events": "shop"})
    assert isinstance(catalog, Catalog)
    assert catalog.tenant_of("harkara.ingest.bulk") == "default"
    assert catalog.tenant_of("shop.events") == "shop"
    with pytest.raises(LookupError):
        catalog.tenant_of("harkara.profiles")
    assert isinstance(load(FILES, {"shop.events": "shopp"}), tuple)


def test_the_fingerprint_changes_with_every_character() -> None:
    """And with nothing else."""
    assert good().fingerprint == good().fingerprint
    assert good(texts="push: {title: Offer, body: All!}").fingerprint != good().fingerprint
