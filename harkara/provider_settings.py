"""Joins the settings of a process into those of each provider it may call."""

from typing import Any

from connectors.providers.fcm import FcmSettings
from connectors.providers.service_account import ServiceAccount
from connectors.providers.twilio import TwilioSettings
from harkara.keys import callback_secret
from harkara.settings import Settings, variable
from streams.errors import SettingError


def fcm(settings: Settings) -> FcmSettings | None:
    """Return the push account, or None when none is configured."""
    if settings.fcm_service_account is None:
        return None
    account = ServiceAccount.read(settings.fcm_service_account.reveal())
    return FcmSettings(account, settings.fcm_url, settings.fcm_project_id or "")


def twilio(settings: Settings) -> TwilioSettings | None:
    """Return the SMS account, or None when none is configured.

    Raises SettingError when it is configured by half.
    """
    if settings.twilio_account_sid is None:
        return None
    secret = settings.twilio_api_secret if settings.twilio_api_key else settings.twilio_auth_token
    if secret is None:
        name = "twilio_api_secret" if settings.twilio_api_key else "twilio_auth_token"
        raise SettingError(variable(name), "give the secret of the configured Twilio account")
    if settings.twilio_from is None:
        raise SettingError(variable("twilio_from"), "give the number or name that texts come from")
    return TwilioSettings(
        settings.twilio_account_sid,
        secret.reveal(),
        settings.twilio_from,
        settings.callback_url or "https://localhost/webhooks/twilio",
        callback_secret(settings),
        settings.twilio_api_key or "",
        settings.twilio_url,
    )


def providers(settings: Settings) -> dict[str, Any]:
    """Return the settings of every provider that is configured, by its name."""
    found = {"fcm": fcm(settings), "twilio": twilio(settings)}
    return {name: own for name, own in found.items() if own is not None}
