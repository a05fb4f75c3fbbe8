"""SMS by Twilio's Programmable Messaging: one text to one number a call."""

from base64 import b64encode
from dataclasses import dataclass, field
from math import isfinite
from urllib.parse import quote_plus

import msgspec
from msgspec import Struct
from yarl import URL

from connectors.providers.callback import callback_url
from connectors.providers.http import DEFAULT_HTTP, Answer, Headers, HttpClient, HttpSettings
from connectors.providers.provider import Call
from connectors.providers.twilio_errors import by_code, outcome_of
from streams.clock import Clock
from streams.outcomes import Accepted, Outcome, Unknown
from streams.rendering.message import SmsMessage

_LONGEST_SECONDS = 36_000  # Twilio queues a message for at most ten hours
# 201 with one of these is a refusal in the words of a success (FAI-06).
_REFUSED = frozenset({"failed", "undelivered", "canceled"})


@dataclass(frozen=True)
class TwilioSettings:
    """One account and the number, name or messaging service that its texts come from."""

    account_sid: str
    secret: str = field(repr=False)  # of the API key, or the account's token
    sender: str  # "+8801…", a name, or the messaging service's SID "MG…"
    callback: str  # where Twilio reports to, https and without a query
    callback_secret: bytes = field(repr=False)
    api_key: str = ""  # "": `secret` is the account's token
    url: str = "https://api.twilio.com"
    price_micros: int = 0  # of one part, when Twilio's answer names no price yet
    currency: str = "USD"
    http: HttpSettings = DEFAULT_HTTP


class _Created(Struct, gc=False):
    """Only the SID must be as expected: a message that was accepted must not become unknown."""

    sid: str
    status: str | None = None
    error_code: int | None = None
    num_segments: str | int | float | None = None
    price: str | int | float | None = None
    price_unit: str | None = None


_decode = msgspec.json.Decoder(_Created).decode


class Twilio:
    """Sends texts. Twilio knows no idempotency key: a repeat is a second text (and a second bill)."""

    name = "twilio"
    channel = "sms"

    def __init__(self, settings: TwilioSettings, clock: Clock) -> None:
        self._settings = settings
        self.account = settings.account_sid
        base = settings.url.rstrip("/")
        self._url = URL(f"{base}/2010-04-01/Accounts/{settings.account_sid}/Messages.json")
        user = settings.api_key or settings.account_sid
        credentials = b64encode(f"{user}:{settings.secret}".encode()).decode()
        self._headers = Headers(
            {
                "Authorization": f"Basic {credentials}",
                "Content-Type": "application/x-www-form-urlencoded",
            }
        )
        field_name = "MessagingServiceSid" if settings.sender.startswith("MG") else "From"
        self._from = f"{field_name}={quote_plus(settings.sender)}"
        self._http = HttpClient(settings.http)

    async def send(self, call: Call) -> Outcome:
        """Make one attempt; never raises for what Twilio or the network does."""
        message = call.message
        if not isinstance(message, SmsMessage):
            raise TypeError("twilio sends text messages only")
        answer = await self._http.post(self._url, self._headers, self._form(call, message.text))
        if not isinstance(answer, Answer):
            return answer
        if answer.status not in (200, 201):
            return outcome_of(answer, call.address)
        try:
            created = _decode(answer.body)
        except (msgspec.DecodeError, msgspec.ValidationError):
            return Unknown("NO_MESSAGE_SID")
        if created.status in _REFUSED:
            return by_code(created.error_code or 0, call.address)
        return self._accepted(created, message) if created.sid else Unknown("NO_MESSAGE_SID")

    async def close(self) -> None:
        """Give back connections."""
        await self._http.close()

    def _form(self, call: Call, text: str) -> bytes:
        seconds = min(max((call.expires_at_ms - call.now_ms) // 1000, 1), _LONGEST_SECONDS)
        settings = self._settings
        callback = callback_url(settings.callback, call.delivery_id, settings.callback_secret)
        return (
            f"To={quote_plus(call.address)}&{self._from}&Body={quote_plus(text)}"
            f"&ValidityPeriod={seconds}&StatusCallback={quote_plus(callback)}"
        ).encode()

    def _accepted(self, created: _Created, message: SmsMessage) -> Accepted:
        """Twilio's own count and price win; both may still be missing at acceptance."""
        segments = round(_number(created.num_segments)) or message.segments
        if micros := round(abs(_number(created.price)) * 1_000_000):
            return Accepted(created.sid, segments, micros, created.price_unit or self._settings.currency)
        return Accepted(
            created.sid, segments, segments * self._settings.price_micros, self._settings.currency
        )


def _number(told: str | int | float | None) -> float:
    """Return a number that Twilio gives as text, 0 when there is none to read."""
    try:
        number = float(told or 0)
    except ValueError:
        return 0.0
    return number if isfinite(number) else 0.0
