"""The two keys that harkara can make itself, kept in the data folder.

Each is made once, readable by its owner only; processes that start at the same time get the same
one. Production gives them as settings instead: a key that is lost cannot be made again.
"""

import os
import secrets
from pathlib import Path

from harkara.secret import Secret
from harkara.settings import Settings, variable
from streams.errors import SettingError

LEAST = 32  # characters


def hash_key(settings: Settings) -> bytes:
    """Return the key that hashes user ids for analytics; another one makes earlier rows a stranger's."""
    return _key("hash_key", settings.hash_key, settings.folder / "hash.key")


def callback_secret(settings: Settings) -> bytes:
    """Return the secret that signs callback addresses; with another one earlier receipts are refused."""
    return _key("callback_secret", settings.callback_secret, settings.folder / "callback.key")


def _key(name: str, given: Secret | None, path: Path) -> bytes:
    if given is not None:
        return given.reveal().encode()
    if not path.exists():
        _make(path)
    text = path.read_text(encoding="ascii").strip()
    if len(text) < LEAST:
        raise SettingError(variable(name), f"{path} holds no key; delete it, or give the key it had")
    return text.encode()


def _make(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    own = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    with os.fdopen(os.open(own, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(secrets.token_hex(LEAST))
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(own, path)  # atomic, and it fails where another process was first
    except FileExistsError:
        pass  # its key is as good, and the one that counts
    finally:
        own.unlink()
