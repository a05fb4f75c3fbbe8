"""Twilio's Messages resource as a server: who may call, what a message must be, errors by code."""

import hmac
import re
from base64 import b64encode
from collections.abc import Mapping
from functools import lru_cache
from urllib.parse import parse_qsl, urlsplit

import msgspec

from connectors.simulator.credentials import Credentials
from connectors.simulator.script import Quota, Refusal
from connectors.simulator.wire import Arrival, Reply
from streams.rendering.sms import segments

_MOST_CHARACTERS = 1_600
_LONGEST_SECONDS = 36_000
_is_number = re.compile(r"\+[1-9]\d{6,14}").fullmatch
# Codes that do not come with a 400.
_HTTP = {20003: 401, 20005: 403, 20403: 403, 20404: 404, 20429: 429, 20500: 500, 20503: 503}

_encode = msgspec.json.Encoder().encode
_segments = lru_cache(maxsize=4_096)(segments)


class TwilioWire:
    """Takes texts for one account."""

    name = "twilio"

    def __init__(self, credentials: Credentials) -> None:
        user = f"{credentials.twilio_account_sid}:{credentials.twilio_auth_token}"
        self._authorization = b"Basic " + b64encode(user.encode())
        self._sid = credentials.twilio_account_sid
        self._path = f"/2010-04-01/Accounts/{self._sid}/Messages.json"

    def read(self, path: str, headers: Mapping[str, str], body: bytes, now_ms: int) -> Arrival | Reply:
        """Return the text, or Twilio's error for a wrong caller, account or parameter."""
        given = headers.get("Authorization", "").encode()
        if not hmac.compare_digest(given, self._authorization):
            return error(20003)
        if path != self._path:
            return error(20404)
        form = dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))
        to, text = form.get("To", ""), form.get("Body", "")
        if not to:
            return error(21604)
        if not _is_number(to):
            return error(21211)
        if not form.get("From") and not form.get("MessagingServiceSid"):
            return error(21603)
        if not text:
            return error(21602)
        if len(text) > _MOST_CHARACTERS:
            return error(21617)
        validity = form.get("ValidityPeriod", "1")
        if not validity.isdecimal() or not 1 <= int(validity) <= _LONGEST_SECONDS:
            return error(21655)
        return Arrival(to, _delivery_id(form.get("StatusCallback", "")), text)

    def accept(self, arrival: Arrival, message_id: str) -> Reply:
        """Return the created resource, queued."""
        created = {
            "sid": message_id,
            "account_sid": self._sid,
            "to": arrival.address,
            "status": "queued",
            "num_segments": str(_segments(arrival.text)),
            "error_code": None,
            "error_message": None,
            "price": None,
            "price_unit": "USD",
        }
        return Reply(201, _encode(created), "201")

    def message_id(self, at_ms: int, seq: int) -> str:
        """Return a message's SID."""
        return f"SM{at_ms:016x}{seq:016x}"

    def refuse(self, fault: Refusal | Quota) -> Reply:
        """Return the error of a code, or too many requests."""
        if isinstance(fault, Quota):
            return error(20429)
        return error(int(fault.code) if fault.code.isdecimal() else 0, fault.status)


def error(code: int, status: int = 0) -> Reply:
    """Return an error body as Twilio writes it; status 400 where the code implies no other."""
    status = status or _HTTP.get(code, 400)
    body = {"code": code, "message": "answered by the simulator", "more_info": "", "status": status}
    return Reply(status, _encode(body), f"{status} {code}")


def _delivery_id(callback: str) -> str:
    return dict(parse_qsl(urlsplit(callback).query)).get("delivery_id", "")
