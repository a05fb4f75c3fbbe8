"""What FCM's refusals mean: one table from its error to our outcome.

The error's own code (`FcmError.errorCode`) decides; without it Google's status does. Nothing but
UNREGISTERED takes a token away: the same 400 stands for a bad token and for a bad payload, and a
403 for a token of another project, which says more about our credentials than about the phone
(VAL-04). INTERNAL may be tried again because Google asks for it and because every message
carries its delivery id as tag, so that a repeat replaces what is shown.
"""

import re
from typing import Any

import msgspec
from msgspec import Struct, field

from connectors.providers.bare_status import by_status
from connectors.providers.http import Answer
from connectors.providers.retry_after import retry_after_ms
from streams.outcomes import EndpointGone, Misconfigured, Outcome, Rejected, Throttled, Unavailable, Unknown
from streams.reasons import Reason

_FCM_ERROR = "type.googleapis.com/google.firebase.fcm.v1.FcmError"
_BAD_REQUEST = "type.googleapis.com/google.rpc.BadRequest"
_QUOTA_FAILURE = "type.googleapis.com/google.rpc.QuotaFailure"
#: FCM counts a project over a minute; this is its word for "come back later" when it names no time.
_QUOTA_MS = 60_000
_TOKEN_FIELDS = frozenset({"message.token", "message.fid"})


class _Error(Struct, gc=False):
    status: str = ""
    details: list[dict[str, Any]] = field(default_factory=list)


class _Body(Struct, gc=False):
    error: _Error


_decode = msgspec.json.Decoder(_Body).decode


def outcome_of(answer: Answer) -> Outcome:
    """Return the outcome of an answer that is not a success."""
    try:
        error = _decode(answer.body).error
    except (msgspec.DecodeError, msgspec.ValidationError):
        return by_status(answer)
    own = _detail(error, _FCM_ERROR, "errorCode")
    wait = retry_after_ms(answer.headers)
    match own or error.status:
        case "UNREGISTERED":
            return EndpointGone("UNREGISTERED")
        case "INVALID_ARGUMENT":
            return Rejected(Reason.REJECTED, f"INVALID_ARGUMENT/{_blamed(error, own)}")
        case "SENDER_ID_MISMATCH":
            # One such token must not stop the others: its message ends, and the reason is counted.
            return Rejected(Reason.PROVIDER_MISCONFIGURED, "SENDER_ID_MISMATCH")
        case "QUOTA_EXCEEDED" | "RESOURCE_EXHAUSTED" as code:
            return Throttled(_QUOTA_MS if wait is None else wait, _quota(error), code)
        case "UNAVAILABLE" | "INTERNAL" as code:
            return Unavailable(code, wait or 0)
        case "THIRD_PARTY_AUTH_ERROR" | "APNS_AUTH_ERROR" as code:
            return Misconfigured("platform", code)  # our key for Apple or web push; Android goes on
        case "UNAUTHENTICATED" | "PERMISSION_DENIED" | "NOT_FOUND" as code:
            return Misconfigured("account", code)  # credentials, role, API or project
        case "":
            return by_status(answer)
        case code:
            return Unknown(_safe(code))


def _blamed(error: _Error, own: str) -> str:
    """Return "token" when FCM complains about the address, else "message"."""
    violations = _list(error, _BAD_REQUEST, "fieldViolations")
    fields = {violation.get("field") for violation in violations if isinstance(violation, dict)}
    blames_token = bool(own) if not fields else fields <= _TOKEN_FIELDS
    return "token" if blames_token else "message"


def _quota(error: _Error) -> str:
    """Return whose quota is used up: a device's or a topic's must not slow the whole account."""
    for violation in _list(error, _QUOTA_FAILURE, "violations"):
        subject = str(violation.get("subject", "")) if isinstance(violation, dict) else ""
        for scope in ("device", "topic"):
            if scope in subject:
                return scope
    return "account"


def _detail(error: _Error, kind: str, key: str) -> str:
    for detail in error.details:
        if detail.get("@type") == kind:
            return str(detail.get(key, ""))
    return ""


def _list(error: _Error, kind: str, key: str) -> list[Any]:
    for detail in error.details:
        if detail.get("@type") == kind and isinstance(found := detail.get(key), list):
            return found
    return []


def _safe(code: str) -> str:
    """Return a code of the provider as a word: metrics and logs take no free text."""
    return re.sub(r"[^A-Z0-9_]", "", code.upper())[:40] or "UNREADABLE"
