"""Our delivery id in the address a provider reports to, signed so that nobody can name another."""

import hmac
from urllib.parse import parse_qs, quote

_SIGNATURE_HEX = 32


def callback_url(base: str, delivery_id: str, secret: bytes) -> str:
    """Return the address for one delivery; the provider's own signature covers its query."""
    return f"{base}?delivery_id={quote(delivery_id, safe='')}&sig={_signature(delivery_id, secret)}"


def delivery_of(query: str, secret: bytes) -> str | None:
    """Return the delivery id of a callback's query, or None when we have not signed it."""
    fields = parse_qs(query)
    delivery_id, signature = (fields.get(name, [""])[0] for name in ("delivery_id", "sig"))
    expected = _signature(delivery_id, secret)
    return delivery_id if hmac.compare_digest(signature.encode(), expected.encode()) else None


def _signature(delivery_id: str, secret: bytes) -> str:
    return hmac.digest(secret, delivery_id.encode(), "sha256").hex()[:_SIGNATURE_HEX]
