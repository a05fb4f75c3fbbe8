"""The provider simulator as a process of the pipeline, and what senders need to call it."""

import os
import secrets
import sys
from dataclasses import dataclass
from pathlib import Path

import msgspec

from connectors.embedded.supervisor import Supervised
from connectors.simulator.client import SimulatorClient
from connectors.simulator.credentials import SERVICE_ACCOUNT_FILE, Credentials
from connectors.simulator.script import Script
from harkara.embedded import probe
from harkara.embedded.role_process import log_of
from harkara.settings import Settings, variable

_FROM = "+15005550006"
_RATE = "2000"  # a second: what one core can be expected to send


@dataclass(frozen=True)
class SimulatedProviders:
    """One simulator on fixed loopback ports; its ledger and accounts outlive restarts."""

    folder: Path  # absolute: the pipeline's data folder
    port: int  # control calls and tokens
    fcm_port: int
    twilio_port: int
    name: str = "simulator"

    @property
    def address(self) -> str:
        """Return where control calls go."""
        return f"http://127.0.0.1:{self.port}"

    def prepare(self, script: Script) -> None:
        """Make accounts, token and fault script, before the simulator and its callers start."""
        own = self._own
        own.mkdir(mode=0o700, parents=True, exist_ok=True)
        credentials = Credentials.of(own)
        credentials.write_service_account(own, f"{self.address}/token")
        _write(own / "twilio-auth-token", credentials.twilio_auth_token)
        if not (own / "token").exists():
            _write(own / "token", secrets.token_urlsafe(32))
        (own / "script.json").write_bytes(msgspec.json.encode(script))

    def program(self, settings: Settings, held: tuple[int, ...]) -> Supervised:
        """Return the simulator's process."""
        options = {
            "--folder": self._own,
            "--token-file": self._own / "token",
            "--port": self.port,
            "--fcm-port": self.fcm_port,
            "--twilio-port": self.twilio_port,
            "--script": self._own / "script.json",
        }
        given = [str(part) for option in options.items() for part in option]
        return Supervised(
            self.name,
            (sys.executable, "-P", "-m", "connectors.simulator", *given),
            log_of(self.folder, self.name),
            env=settings.child_environ(),
            keep_fds=held,
        )

    def environ(self, settings: Settings) -> dict[str, str]:
        """Return what makes a sender call these providers; secrets are named by their files.

        A provider that the settings configure is left out: it is called for real.
        """
        given: dict[str, str] = {}
        if settings.fcm_service_account is None:
            given |= {
                "fcm_url": f"http://127.0.0.1:{self.fcm_port}",
                "fcm_service_account_file": str(self._own / SERVICE_ACCOUNT_FILE),
                "fcm_rate": _RATE,
            }
        if settings.twilio_account_sid is None:
            given |= {
                "twilio_url": f"http://127.0.0.1:{self.twilio_port}",
                "twilio_account_sid": Credentials.of(self._own).twilio_account_sid,
                "twilio_auth_token_file": str(self._own / "twilio-auth-token"),
                "twilio_from": _FROM,
                "twilio_rate": _RATE,
            }
        return {variable(name): value for name, value in given.items()}

    def answers(self) -> bool:
        """Return whether the simulator is up."""
        answer = probe.ask(self.port, "/_sim/health")
        return answer is not None and answer[0] == 200

    def client(self) -> SimulatorClient:
        """Return a client for its control calls; use it inside `async with`."""
        return SimulatorClient(self.address, (self._own / "token").read_text())

    @property
    def _own(self) -> Path:
        return self.folder / "simulator"


def _write(path: Path, text: str) -> None:
    """Write a secret where only its owner reads it; the file is whole or not there."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
    draft.replace(path)
