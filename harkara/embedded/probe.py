"""Asks a process of ours how it is, on its own loopback port."""

import http.client
from typing import Any

import msgspec

_TIMEOUT_S = 2.0


def ask(port: int, path: str) -> tuple[int, bytes] | None:
    """Return status and body of one GET, or None when nobody answers within two seconds."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_TIMEOUT_S)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        return response.status, response.read()
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()


def facts(port: int, path: str = "/healthz") -> dict[str, Any] | None:
    """Return what the process says of itself, or None when it does not answer."""
    answer = ask(port, path)
    if answer is None:
        return None
    told: dict[str, Any] = msgspec.json.decode(answer[1])
    return told
