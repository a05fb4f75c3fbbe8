"""Answers of providers, built by hand."""

from typing import Any

import msgspec
from multidict import CIMultiDict, CIMultiDictProxy

from connectors.providers.http import Answer


def answer(status: int, body: Any = b"", **headers: str) -> Answer:
    """Return an answer; a body that is not bytes becomes JSON, `Retry_After` becomes a header's name."""
    raw = body if isinstance(body, bytes) else msgspec.json.encode(body)
    named = CIMultiDict({name.replace("_", "-"): value for name, value in headers.items()})
    return Answer(status, CIMultiDictProxy(named), raw)
