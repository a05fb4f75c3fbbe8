"""Google's token endpoint, as far as a service account meets it."""

import hmac
from base64 import urlsafe_b64decode
from typing import Any
from urllib.parse import parse_qs

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from connectors.simulator.credentials import Credentials
from connectors.simulator.script import Quota, Refusal
from connectors.simulator.wire import Reply

_GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_AUDIENCE = "https://oauth2.googleapis.com/token"
_SCOPE = "https://www.googleapis.com/auth/firebase.messaging"
_SKEW_SECONDS = 300
_LONGEST_SECONDS = 3_600


class OAuth:
    """Exchanges signed claims for access tokens, and knows its tokens again, also after a restart."""

    def __init__(self, credentials: Credentials) -> None:
        key = load_pem_private_key(credentials.private_key.encode(), password=None)
        if not isinstance(key, RSAPrivateKey):
            raise TypeError("the simulator's own key is RSA")
        self._public = key.public_key()
        self._email = credentials.client_email
        self._secret = credentials.token_secret
        self._known: dict[str, int] = {}  # Authorization header -> end of its token

    def grant(self, body: bytes, now_ms: int, life_seconds: int) -> Reply:
        """Return a token for a good assertion, else the OAuth error Google gives."""
        fields = parse_qs(body.decode("utf-8", "replace"))
        if fields.get("grant_type") != [_GRANT]:
            return _refusal("unsupported_grant_type")
        claims = self._claims(fields.get("assertion", [""])[0])
        now = now_ms // 1000
        if (
            claims is None
            or claims.get("iss") != self._email
            or claims.get("aud") != _AUDIENCE
            or not now - _LONGEST_SECONDS - _SKEW_SECONDS <= int(claims.get("iat", 0)) <= now + _SKEW_SECONDS
            or not now <= int(claims.get("exp", 0)) <= int(claims.get("iat", 0)) + _LONGEST_SECONDS
        ):
            return _refusal("invalid_grant")
        if claims.get("scope") != _SCOPE:
            return _refusal("invalid_scope")
        ends_ms = now_ms + life_seconds * 1000
        token = f"sim.{ends_ms}.{self._signature(str(ends_ms))}"
        grant = {"access_token": token, "expires_in": life_seconds, "token_type": "Bearer"}
        return Reply(200, msgspec.json.encode(grant), "200")

    def refuse(self, fault: Refusal | Quota) -> Reply:
        """Return the error of a code, or too many requests."""
        if isinstance(fault, Quota):
            return Reply(429, b"", "429")
        if fault.body is not None:
            return Reply(fault.status or 400, fault.body.encode(), f"{fault.status or 400}")
        return _refusal(fault.code or "invalid_grant", fault.status or 400)

    def admits(self, authorization: str, now_ms: int) -> bool:
        """Tell whether this header carries a token of ours that has not ended."""
        ends_ms = self._known.get(authorization)
        if ends_ms is None:
            scheme, _, token = authorization.partition(" ")
            _, _, rest = token.partition(".")
            end, _, signature = rest.partition(".")
            if scheme != "Bearer" or not hmac.compare_digest(
                signature.encode(), self._signature(end).encode()
            ):
                return False
            self._known = {known: ms for known, ms in self._known.items() if ms > now_ms}
            ends_ms = self._known[authorization] = int(end)
        return now_ms < ends_ms

    def _claims(self, assertion: str) -> dict[str, Any] | None:
        signed, _, signature = assertion.rpartition(".")
        try:
            self._public.verify(_raw(signature), signed.encode(), PKCS1v15(), SHA256())
            header = msgspec.json.decode(_raw(signed.partition(".")[0]), type=dict[str, Any])
            claims = msgspec.json.decode(_raw(signed.partition(".")[2]), type=dict[str, Any])
        except (InvalidSignature, ValueError, msgspec.MsgspecError):
            return None
        return claims if header.get("alg") == "RS256" else None

    def _signature(self, end: str) -> str:
        return hmac.digest(self._secret, end.encode(), "sha256").hex()


def _raw(part: str) -> bytes:
    return urlsafe_b64decode(part + "=" * (-len(part) % 4))


def _refusal(error: str, status: int = 400) -> Reply:
    body = {"error": error, "error_description": "refused by the simulator"}
    return Reply(status, msgspec.json.encode(body), f"{status} {error}")
