from typing import Any

import pytest

from connectors.providers.fcm_errors import outcome_of
from streams.outcomes import EndpointGone, Misconfigured, Outcome, Rejected, Throttled, Unavailable, Unknown
from streams.reasons import Reason
from tests.connectors.providers.answers import answer

FCM = "type.googleapis.com/google.firebase.fcm.v1.FcmError"
BAD_REQUEST = "type.googleapis.com/google.rpc.BadRequest"
QUOTA = "type.googleapis.com/google.rpc.QuotaFailure"


def fcm(code: str) -> dict[str, Any]:
    """Return FCM's own part of an error."""
    return {"@type": FCM, "errorCode": code}


def blames(*fields: str) -> dict[str, Any]:
    """Return Google's part that names bad fields."""
    return {"@type": BAD_REQUEST, "fieldViolations": [{"field": field} for field in fields]}


def quota_of(subject: str) -> dict[str, Any]:
    """Return Google's part that names a quota."""
    return {"@type": QUOTA, "violations": [{"subject": subject}]}


TABLE: list[tuple[int, str, list[Any], Outcome]] = [
    (404, "NOT_FOUND", [fcm("UNREGISTERED")], EndpointGone("UNREGISTERED")),
    (404, "NOT_FOUND", [], Misconfigured("account", "NOT_FOUND")),
    (
        400,
        "INVALID_ARGUMENT",
        [fcm("INVALID_ARGUMENT")],
        Rejected(Reason.REJECTED, "INVALID_ARGUMENT/token"),
    ),
    (
        400,
        "INVALID_ARGUMENT",
        [fcm("INVALID_ARGUMENT"), blames("message.token")],
        Rejected(Reason.REJECTED, "INVALID_ARGUMENT/token"),
    ),
    (
        400,
        "INVALID_ARGUMENT",
        [fcm("INVALID_ARGUMENT"), blames("message.android.ttl")],
        Rejected(Reason.REJECTED, "INVALID_ARGUMENT/message"),
    ),
    (
        400,
        "INVALID_ARGUMENT",
        [blames("message.data[0].value")],
        Rejected(Reason.REJECTED, "INVALID_ARGUMENT/message"),
    ),
    (400, "INVALID_ARGUMENT", [], Rejected(Reason.REJECTED, "INVALID_ARGUMENT/message")),
    (
        403,
        "PERMISSION_DENIED",
        [fcm("SENDER_ID_MISMATCH")],
        Rejected(Reason.PROVIDER_MISCONFIGURED, "SENDER_ID_MISMATCH"),
    ),
    (403, "PERMISSION_DENIED", [], Misconfigured("account", "PERMISSION_DENIED")),
    (401, "UNAUTHENTICATED", [], Misconfigured("account", "UNAUTHENTICATED")),
    (
        401,
        "UNAUTHENTICATED",
        [fcm("THIRD_PARTY_AUTH_ERROR")],
        Misconfigured("platform", "THIRD_PARTY_AUTH_ERROR"),
    ),
    (401, "UNAUTHENTICATED", [fcm("APNS_AUTH_ERROR")], Misconfigured("platform", "APNS_AUTH_ERROR")),
    (429, "RESOURCE_EXHAUSTED", [fcm("QUOTA_EXCEEDED")], Throttled(60_000, "account", "QUOTA_EXCEEDED")),
    (429, "RESOURCE_EXHAUSTED", [], Throttled(60_000, "account", "RESOURCE_EXHAUSTED")),
    (
        429,
        "RESOURCE_EXHAUSTED",
        [fcm("QUOTA_EXCEEDED"), quota_of("device:x")],
        Throttled(60_000, "device", "QUOTA_EXCEEDED"),
    ),
    (
        429,
        "RESOURCE_EXHAUSTED",
        [fcm("QUOTA_EXCEEDED"), quota_of("project:x")],
        Throttled(60_000, "account", "QUOTA_EXCEEDED"),
    ),
    (503, "UNAVAILABLE", [fcm("UNAVAILABLE")], Unavailable("UNAVAILABLE")),
    (503, "UNAVAILABLE", [], Unavailable("UNAVAILABLE")),
    (500, "INTERNAL", [fcm("INTERNAL")], Unavailable("INTERNAL")),
    (400, "FAILED_PRECONDITION", [fcm("BRAND_NEW")], Unknown("BRAND_NEW")),
    (504, "DEADLINE_EXCEEDED", [], Unknown("DEADLINE_EXCEEDED")),
    (400, "x'; DROP TABLE <b>", [], Unknown("XDROPTABLEB")),
    (503, "", [], Unknown("HTTP_503")),
    (
        400,
        "INVALID_ARGUMENT",
        [{"@type": BAD_REQUEST, "fieldViolations": "no list"}],
        Rejected(Reason.REJECTED, "INVALID_ARGUMENT/message"),
    ),
]


@pytest.mark.parametrize("status, google, details, outcome", TABLE)
def test_each_row_of_the_table(status: int, google: str, details: list[Any], outcome: Outcome) -> None:
    """FCM's own code decides, then Google's status; only UNREGISTERED takes a token away (VAL-04)."""
    body = {"error": {"code": status, "message": "m", "status": google, "details": details}}
    assert outcome_of(answer(status, body)) == outcome


def test_a_wait_that_is_asked_for_is_kept() -> None:
    """Retry-After beats our own minute (R-182)."""
    body = {"error": {"status": "RESOURCE_EXHAUSTED"}}
    assert outcome_of(answer(429, body, Retry_After="5")) == Throttled(5_000, "account", "RESOURCE_EXHAUSTED")


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"[]", b'{"error":null}', b'{"error":{"details":7}}', b"\xff"]
)
def test_a_body_that_is_not_googles_is_judged_by_its_status(body: bytes) -> None:
    """Whoever wrote it, the status stands."""
    assert outcome_of(answer(403, body)) == Misconfigured("account", "HTTP_403")
    assert outcome_of(answer(500, body)) == Unknown("HTTP_500")
