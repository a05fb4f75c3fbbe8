"""Every provider there is, each with its settings and how it is made."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from connectors.providers.fcm import Fcm, FcmSettings
from connectors.providers.provider import Provider
from connectors.providers.twilio import Twilio, TwilioSettings
from streams.clock import Clock
from streams.errors import SettingError


@dataclass(frozen=True)
class ProviderKind:
    """A provider that can be configured."""

    name: str
    channel: str
    settings: type[Any]
    make: Callable[[Any, Clock], Provider]


PROVIDERS: tuple[ProviderKind, ...] = (
    ProviderKind("fcm", "push", FcmSettings, Fcm),
    ProviderKind("twilio", "sms", TwilioSettings, Twilio),
)


def build(settings: Mapping[str, Any], names: Iterable[str], clock: Clock) -> dict[str, Provider]:
    """Return the named providers, made of `settings[name]`; nothing is connected yet.

    `clock` is the wall clock, not the demo's: providers check the time of what we sign. Raises
    SettingError for a name that is unknown or has no settings.
    """
    kinds = {kind.name: kind for kind in PROVIDERS}
    built: dict[str, Provider] = {}
    for name in names:
        if (kind := kinds.get(name)) is None:
            raise SettingError("providers", f"{name} is unknown; there are {', '.join(kinds)}")
        if not isinstance(own := settings.get(name), kind.settings):
            raise SettingError(name, f"is to send {kind.channel} and has no settings")
        built[name] = kind.make(own, clock)
    return built
