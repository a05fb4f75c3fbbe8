"""The key that turns a user id into what analytics may hold."""

import os
import secrets
from pathlib import Path

from harkara.settings import Settings
from streams.errors import SettingError

FILE = "hash.key"


def hash_key(settings: Settings) -> bytes:
    """Return the configured key, else the data folder's own, made once and readable by its owner only.

    Processes that start at the same time get the same key. Losing the file makes every earlier
    row of analytics a stranger's, so production gives `HARKARA_HASH_KEY` or its file.
    """
    if settings.hash_key is not None:
        return settings.hash_key.reveal().encode()
    path = settings.folder / FILE
    if not path.exists():
        _make(path)
    text = path.read_text(encoding="ascii").strip()
    if len(text) < 32:
        raise SettingError("HARKARA_HASH_KEY", f"{path} holds no key; delete it, or give the key it had")
    return text.encode()


def _make(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    own = path.with_name(f"{FILE}.{secrets.token_hex(4)}")
    with os.fdopen(os.open(own, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(secrets.token_hex(32))
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(own, path)  # atomic, and it fails where another process was first
    except FileExistsError:
        pass  # its key is as good, and the one that counts
    finally:
        own.unlink()
