"""How the text of an environment variable becomes a setting's value.

A kind refuses with `ValueError`; its message is the mend that a person reads.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar
from urllib.parse import urlsplit, urlunsplit

import msgspec

from harkara.secret import Secret

T = TypeVar("T")

_HOST_PORT = re.compile(r"(\[[0-9A-Fa-f:]+\]|[A-Za-z0-9._-]+):(\d{1,5})")


@dataclass(frozen=True)
class Kind(Generic[T]):
    """Reads one kind of value; `unit` is what the number or text counts or names."""

    unit: str
    read: Callable[[str], T]
    may_be_file: bool = False  # NAME_FILE names a file that holds the value


def text(unit: str, pattern: str, mend: str) -> Kind[str]:
    """Text that matches `pattern` as a whole; else `mend` says what is expected."""

    def read(raw: str) -> str:
        if re.fullmatch(pattern, raw) is None:
            raise ValueError(mend)
        return raw

    return Kind(unit, read)


def number(unit: str, least: int, most: int) -> Kind[int]:
    """A whole number from `least` to `most`."""

    def read(raw: str) -> int:
        if re.fullmatch(r"-?\d{1,15}", raw) is None or not least <= int(raw) <= most:
            raise ValueError(f"give a whole number of {unit} from {least} to {most}, not {raw!r}")
        return int(raw)

    return Kind(unit, read)


def choice(*allowed: str) -> Kind[str]:
    """One of a few words."""

    def read(raw: str) -> str:
        if raw not in allowed:
            raise ValueError(f"give one of {', '.join(allowed)}, not {raw!r}")
        return raw

    return Kind("word", read)


def flag() -> Kind[bool]:
    """`true` or `false`."""

    def read(raw: str) -> bool:
        if raw not in ("true", "false"):
            raise ValueError(f"give true or false, not {raw!r}")
        return raw == "true"

    return Kind("true or false", read)


def directory() -> Kind[Path]:
    """A folder; it need not exist yet."""
    return Kind("folder", Path)


def url(*schemes: str) -> Kind[str]:
    """A URL with one of `schemes` and a host; it may hold a password, so it may come from a file."""

    def read(raw: str) -> str:
        # The text itself is never in the message: it may hold a password.
        example = f"give a URL like {schemes[0]}://host:port"
        try:
            parts = urlsplit(raw)
            host, _ = parts.hostname, parts.port
        except ValueError:
            raise ValueError(f"{example}; this one cannot be read") from None
        if parts.scheme not in schemes:
            raise ValueError(f"{example}; its scheme must be {' or '.join(schemes)}")
        if not host:
            raise ValueError(f"{example}; this one names no host")
        return raw.rstrip("/")

    return Kind("URL", read, may_be_file=True)


def brokers() -> Kind[str]:
    """Kafka's bootstrap servers as `host:port,host:port`; a leading `kafka://` is taken off."""

    def read(raw: str) -> str:
        hosts = [host.strip() for host in raw.removeprefix("kafka://").split(",")]
        for host in hosts:
            match = _HOST_PORT.fullmatch(host)
            if match is None or not 0 < int(match[2]) < 65_536:
                raise ValueError(f"give host:port, several separated by commas; {host!r} is not one")
        return ",".join(hosts)

    return Kind("host:port list", read)


def secret(unit: str = "secret", least: int = 1) -> Kind[Secret]:
    """A secret of at least `least` characters; shown as `***` wherever it is printed."""

    def read(raw: str) -> Secret:
        if len(raw) < least:
            raise ValueError(f"give at least {least} characters")
        return Secret(raw)

    return Kind(unit, read, may_be_file=True)


def secret_json(unit: str, *required: str) -> Kind[Secret]:
    """A secret that is the text of a JSON object with at least the `required` fields."""

    def read(raw: str) -> Secret:
        try:
            value = msgspec.json.decode(raw)
        except msgspec.DecodeError:
            raise ValueError(f"give the JSON text of {unit}; this is not JSON") from None
        missing = [name for name in required if not isinstance(value, dict) or name not in value]
        if missing:
            raise ValueError(f"give the JSON text of {unit}; it lacks {', '.join(missing)}")
        return Secret(raw)

    return Kind(unit, read, may_be_file=True)


def shown(value: object) -> str:
    """The value as a person may see it: without secrets, and URLs without their password."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str) and "@" in value and "://" in value:
        parts = urlsplit(value)
        user, _, place = parts.netloc.rpartition("@")
        masked = f"{user.partition(':')[0]}:***@{place}" if ":" in user else f"{user}@{place}"
        return urlunsplit(parts._replace(netloc=masked))
    return str(value)
