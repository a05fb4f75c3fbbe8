"""A Google service account: who we are to FCM, and how we prove it."""

from base64 import urlsafe_b64encode
from dataclasses import dataclass, field

import msgspec
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from streams.errors import SettingError

_SCOPE = "https://www.googleapis.com/auth/firebase.messaging"
#: Google checks for its own address here, whatever address the token is asked from.
AUDIENCE = "https://oauth2.googleapis.com/token"
_LIFE_SECONDS = 3600


@dataclass(frozen=True)
class ServiceAccount:
    """The fields of the JSON key that Google gives."""

    client_email: str
    token_uri: str
    project_id: str
    key_id: str
    key: RSAPrivateKey = field(repr=False)

    @staticmethod
    def read(document: str | bytes, setting: str = "fcm_service_account") -> "ServiceAccount":
        """Return the account of a JSON key; raises SettingError, without quoting it, if it is none."""
        try:
            fields = msgspec.json.decode(document, type=dict[str, str])
            key = load_pem_private_key(fields["private_key"].encode(), password=None)
            email, token_uri = fields["client_email"], fields["token_uri"]
        except (msgspec.MsgspecError, KeyError, ValueError, TypeError):
            raise SettingError(setting, "give a service account key as Google's console exports it") from None
        if not isinstance(key, RSAPrivateKey):
            raise SettingError(setting, "the private key must be an RSA key")
        return ServiceAccount(
            email, token_uri, fields.get("project_id", ""), fields.get("private_key_id", ""), key
        )

    def assertion(self, now_ms: int) -> str:
        """Return the signed claim (a JWT, RS256) that is exchanged for an access token."""
        issued = now_ms // 1000
        header = {"alg": "RS256", "typ": "JWT", "kid": self.key_id}
        claims = {
            "iss": self.client_email,
            "sub": self.client_email,
            "scope": _SCOPE,
            "aud": AUDIENCE,
            "iat": issued,
            "exp": issued + _LIFE_SECONDS,
        }
        signed = f"{_part(msgspec.json.encode(header))}.{_part(msgspec.json.encode(claims))}"
        return f"{signed}.{_part(self.key.sign(signed.encode(), PKCS1v15(), SHA256()))}"


def _part(raw: bytes) -> str:
    return urlsafe_b64encode(raw).rstrip(b"=").decode()
