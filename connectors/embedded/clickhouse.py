"""The ClickHouse engine as a part of the stack: one process owns the data, clients ask it over HTTP."""

import http.client
import os
import secrets
import sys
from dataclasses import dataclass
from pathlib import Path

from connectors.embedded.supervisor import Supervised

USER = "harkara"

_PACKAGES = Path(__file__).parents[2]


@dataclass(frozen=True)
class ClickHouse:
    """One owner process on a loopback port; answered inserts survive a kill of the process."""

    folder: Path  # absolute
    port: int
    name: str = "clickhouse"

    @property
    def address(self) -> str:
        """Return the URL for clients, with user and password; there once `prepare` was called."""
        return f"http://{USER}:{self._password_file.read_text()}@127.0.0.1:{self.port}"

    def prepare(self) -> None:
        """Make the folder and a password, which only this user can read and which stays."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not self._password_file.exists():
            draft = self.folder / ".password"
            draft.unlink(missing_ok=True)
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                file.write(secrets.token_urlsafe(24))
            draft.replace(self._password_file)

    def program(self) -> Supervised:
        """Return the owner's program; times without a zone are UTC in it."""
        argv = (
            *("/usr/bin/env", "TZ=UTC", f"PYTHONPATH={_PACKAGES}"),
            *(sys.executable, "-m", "connectors.embedded.owner"),
            *(str(self.folder / "data"), str(self.port), str(self._password_file)),
        )
        return Supervised(self.name, argv, self.folder / "output.log")

    def answers(self) -> bool:
        """Return whether the owner has opened the data and listens."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=1)
        try:
            connection.request("GET", "/ping")
            return connection.getresponse().status == http.client.OK
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    @property
    def _password_file(self) -> Path:
        return self.folder / "password"
