"""FCM HTTP v1 as a server: who may call, what a message must be, and the errors in Google's words."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from connectors.simulator.oauth import OAuth
from connectors.simulator.script import Quota, Refusal
from connectors.simulator.wire import Arrival, Reply

_MOST_BYTES = 4_096
_RESERVED = ("google.", "gcm.notification.")
_FCM_ERROR = "type.googleapis.com/google.firebase.fcm.v1.FcmError"
_BAD_REQUEST = "type.googleapis.com/google.rpc.BadRequest"
_QUOTA_FAILURE = "type.googleapis.com/google.rpc.QuotaFailure"

# FcmError.errorCode, or Google's own status where FCM adds none -> HTTP status and Google's status.
_FCM_CODES = {
    "UNREGISTERED": (404, "NOT_FOUND"),
    "INVALID_ARGUMENT": (400, "INVALID_ARGUMENT"),
    "SENDER_ID_MISMATCH": (403, "PERMISSION_DENIED"),
    "THIRD_PARTY_AUTH_ERROR": (401, "UNAUTHENTICATED"),
    "QUOTA_EXCEEDED": (429, "RESOURCE_EXHAUSTED"),
    "UNAVAILABLE": (503, "UNAVAILABLE"),
    "INTERNAL": (500, "INTERNAL"),
}
_GOOGLE_CODES = {
    "UNAUTHENTICATED": 401,
    "PERMISSION_DENIED": 403,
    "NOT_FOUND": 404,
    "RESOURCE_EXHAUSTED": 429,
}


class _Notification(Struct, frozen=True, gc=False):
    title: str = ""
    body: str = ""


class _Message(Struct, gc=False):
    token: str
    notification: _Notification = _Notification()
    data: dict[str, str] = {}


class _Request(Struct, gc=False, rename="camel"):
    message: _Message
    validate_only: bool = False


_decode = msgspec.json.Decoder(_Request).decode
_encode = msgspec.json.Encoder().encode


class FcmWire:
    """Takes messages for one project."""

    name = "fcm"

    def __init__(self, project_id: str, oauth: OAuth) -> None:
        self._project = project_id
        self._path = f"/v1/projects/{project_id}/messages:send"
        self._oauth = oauth

    def read(self, path: str, headers: Mapping[str, str], body: bytes, now_ms: int) -> Arrival | Reply:
        """Return the message, or Google's error for a wrong caller, project or payload."""
        if not self._oauth.admits(headers.get("Authorization", ""), now_ms):
            return error("UNAUTHENTICATED")
        if path != self._path:
            return error("NOT_FOUND")
        try:
            message = _decode(body).message
        except (msgspec.DecodeError, msgspec.ValidationError):
            return _bad_field("message")
        if not message.token:
            return error("INVALID_ARGUMENT")
        if any(key in ("from", "message_type") or key.startswith(_RESERVED) for key in message.data):
            return _bad_field("message.data")
        if len(body) > _MOST_BYTES and len(_encode((message.notification, message.data))) > _MOST_BYTES:
            return error(
                "INVALID_ARGUMENT", [{"@type": _BAD_REQUEST, "fieldViolations": [{"field": "message"}]}]
            )
        shown = message.notification
        text = f"{shown.title}\n{shown.body}" if shown.title else shown.body
        return Arrival(message.token, message.data.get("delivery_id", ""), text)

    def accept(self, arrival: Arrival, message_id: str) -> Reply:
        """Return the message's name."""
        return Reply(200, b'{"name":"%b"}' % message_id.encode(), "200")

    def message_id(self, at_ms: int, seq: int) -> str:
        """Return a message's name."""
        return f"projects/{self._project}/messages/{at_ms}{seq:09d}"

    def refuse(self, fault: Refusal | Quota) -> Reply:
        """Return the error of a code, or the project's quota."""
        if isinstance(fault, Quota):
            return error("QUOTA_EXCEEDED", [_quota("project")])
        extra = [_quota("device")] if fault.code == "DEVICE_QUOTA" else []
        return error("QUOTA_EXCEEDED" if extra else fault.code, extra, fault.status)


def error(code: str, extra: list[dict[str, Any]] | None = None, status: int = 0) -> Reply:
    """Return an error body as Google writes it; an unknown code is answered as a 400."""
    details = list(extra or [])
    if code in _GOOGLE_CODES:
        http, google = _GOOGLE_CODES[code], code
    else:
        http, google = _FCM_CODES.get(code, (400, "INVALID_ARGUMENT"))
        details.insert(0, {"@type": _FCM_ERROR, "errorCode": code})
    body = {
        "error": {
            "code": status or http,
            "message": "answered by the simulator",
            "status": google,
            "details": details,
        }
    }
    return Reply(status or http, _encode(body), f"{status or http} {code}")


def _bad_field(name: str) -> Reply:
    violation = {"@type": _BAD_REQUEST, "fieldViolations": [{"field": name}]}
    body = {
        "error": {
            "code": 400,
            "message": "answered by the simulator",
            "status": "INVALID_ARGUMENT",
            "details": [violation],
        }
    }
    return Reply(400, _encode(body), "400 INVALID_ARGUMENT")


def _quota(subject: str) -> dict[str, Any]:
    return {"@type": _QUOTA_FAILURE, "violations": [{"subject": f"{subject}:simulated"}]}
