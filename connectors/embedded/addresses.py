"""Where the running stack listens, on disk for the commands that ask it."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from connectors.embedded.folder import is_held

_FILE = "stack.json"


@dataclass(frozen=True)
class Addresses:
    """The stack's addresses; `clickhouse` and `redis` may carry a password, so never log them."""

    kafka: str  # host:port
    redis: str  # redis://host:port
    clickhouse: str  # http://user:password@host:port
    simulator: str | None = None  # http://host:port of the provider simulator, when one runs

    @staticmethod
    def read(folder: Path) -> "Addresses | None":
        """Return the addresses of the stack that runs on `folder`, or None when none does.

        What a killed stack left behind does not count.
        """
        try:
            stored = json.loads((folder / _FILE).read_bytes())
        except FileNotFoundError:
            return None
        return Addresses(**stored) if is_held(folder) else None

    def write(self, folder: Path) -> None:
        """Replace the stored addresses at once; only the owner may read them."""
        draft = folder / f".{_FILE}.{os.getpid()}"
        draft.unlink(missing_ok=True)
        # O_EXCL with the final mode: at no moment is there a file that others can read.
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            json.dump(asdict(self), file, indent=2)
            file.write("\n")
        draft.replace(folder / _FILE)

    @staticmethod
    def forget(folder: Path) -> None:
        """Remove the stored addresses, as a stack does that stops."""
        (folder / _FILE).unlink(missing_ok=True)
