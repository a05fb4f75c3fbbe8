"""Addresses in the one form that is stored, compared and sent to; what cannot exist is refused.

Pure and cached: contacts change rarely.
"""

import re
import unicodedata
from functools import lru_cache

import phonenumbers

from streams.topics import Channel

#: Where a number without a country code belongs.
HOME_REGION = "BD"

_LONGEST_TOKEN = 4096
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_SPACE = re.compile(r"\s")
_ATOM = re.compile(r"[^\s()<>\[\]:;@\\,\".]+(?:\.[^\s()<>\[\]:;@\\,\".]+)*")
_QUOTED = re.compile(r'"(?:[^"\\\r\n]|\\[^\r\n])*"')
_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")


@lru_cache(maxsize=10_000)
def canonical(channel: str, text: str, region: str = HOME_REGION) -> str | None:
    """Return the address as it is kept, or None if nothing can be sent there.

    `region` is where a phone number without a country code is looked for.
    """
    match channel:
        case Channel.SMS:
            return _phone(text, region)
        case Channel.EMAIL:
            return _mail(text)
        case Channel.PUSH:
            usable = bool(text) and len(text) <= _LONGEST_TOKEN and not _SPACE.search(text)
            return text if usable and not _CONTROLS.search(text) else None
        case _:
            return None


def _phone(text: str, region: str) -> str | None:
    """Return the number in E.164 (VAL-01): direction marks ignored, extensions and words refused."""
    visible = "".join(char for char in text if unicodedata.category(char) != "Cf")
    if any(char.isalpha() for char in visible):
        return None
    try:
        number = phonenumbers.parse(visible, region)
    except phonenumbers.NumberParseException:
        return None
    if number.extension or not phonenumbers.is_valid_number(number):
        return None
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)


def _mail(text: str) -> str | None:
    """Return the address with its domain in ASCII, the local part as given (VAL-02, VAL-03)."""
    local, at, domain = text.strip(" ").rpartition("@")
    if not at or len(local.encode()) > 64 or _CONTROLS.search(text):
        return None
    if not (_ATOM.fullmatch(local) or _QUOTED.fullmatch(local)):
        return None
    try:
        ascii_domain = domain.lower().encode("idna").decode()
    except UnicodeError:
        return None
    labels = ascii_domain.split(".")
    if len(labels) < 2 or len(ascii_domain) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        return None
    return f"{local}@{ascii_domain}"
