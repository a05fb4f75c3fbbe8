import pytest

from connectors.providers.registry import PROVIDERS, build
from connectors.providers.twilio import TwilioSettings
from streams.clock import FixedClock
from streams.errors import SettingError

TWILIO = TwilioSettings("AC1", "a secret", "+15005550006", "https://harkara.example/w", b"another")


def test_only_named_providers_are_made() -> None:
    """A sender of texts needs no push credentials."""
    built = build({"twilio": TWILIO}, ["twilio"], FixedClock(0))
    assert [(provider.name, provider.channel, provider.account) for provider in built.values()] == [
        ("twilio", "sms", "AC1")
    ]


@pytest.mark.parametrize("name", ["fcm", "carrier_pigeon"])
def test_a_name_that_cannot_be_made_is_said(name: str) -> None:
    """An unknown name and one without settings stop the process at its start."""
    with pytest.raises(SettingError, match=name):
        build({"twilio": TWILIO}, [name], FixedClock(0))


def test_names_are_unique() -> None:
    """Analytics and settings know a provider by its name alone."""
    assert len({kind.name for kind in PROVIDERS}) == len(PROVIDERS)


def test_settings_never_show_their_secrets() -> None:
    """A setting that is logged by accident tells nothing."""
    assert "secret" not in repr(TWILIO).replace("callback_secret", "")
    assert "another" not in repr(TWILIO)
