"""The accounts that the simulated providers gave us: made once, kept in the simulator's folder."""

import os
import secrets
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from msgspec import Struct

_FILE = "credentials.json"
#: The same in the form in which Google's console exports it: what a sender is configured with.
SERVICE_ACCOUNT_FILE = "fcm-service-account.json"


class _Stored(Struct):
    project_id: str
    client_email: str
    key_id: str
    private_key: str
    token_secret: str
    twilio_account_sid: str
    twilio_auth_token: str


@dataclass(frozen=True)
class Credentials:
    """What a caller needs to be let in."""

    project_id: str
    client_email: str
    key_id: str
    private_key: str = field(repr=False)  # PEM
    token_secret: bytes = field(repr=False)
    twilio_account_sid: str = ""
    twilio_auth_token: str = field(default="", repr=False)

    @staticmethod
    def of(folder: Path) -> "Credentials":
        """Return the accounts of this folder; the first call makes them."""
        path = folder / _FILE
        if not path.exists():
            _write(path, msgspec.json.encode(_made()))
        stored = msgspec.json.decode(path.read_bytes(), type=_Stored)
        return Credentials(
            project_id=stored.project_id,
            client_email=stored.client_email,
            key_id=stored.key_id,
            private_key=stored.private_key,
            token_secret=stored.token_secret.encode(),
            twilio_account_sid=stored.twilio_account_sid,
            twilio_auth_token=stored.twilio_auth_token,
        )

    def service_account(self, token_uri: str) -> bytes:
        """Return the service account's key as JSON; tokens are asked for at `token_uri`."""
        fields = {
            "type": "service_account",
            "project_id": self.project_id,
            "private_key_id": self.key_id,
            "private_key": self.private_key,
            "client_email": self.client_email,
            "token_uri": token_uri,
        }
        return msgspec.json.format(msgspec.json.encode(fields))

    def write_service_account(self, folder: Path, token_uri: str) -> Path:
        """Write that JSON where only the owner reads it, and return its path."""
        path = folder / SERVICE_ACCOUNT_FILE
        _write(path, self.service_account(token_uri))
        return path


def _made() -> _Stored:
    key = generate_private_key(public_exponent=65_537, key_size=2048)
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return _Stored(
        project_id="harkara-simulated",
        client_email="sender@harkara-simulated.iam.gserviceaccount.example",
        key_id=secrets.token_hex(20),
        private_key=pem.decode(),
        token_secret=secrets.token_hex(32),
        twilio_account_sid=f"AC{secrets.token_hex(16)}",
        twilio_auth_token=secrets.token_hex(16),
    )


def _write(path: Path, content: bytes) -> None:
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
    draft.replace(path)
