"""Push by Firebase Cloud Messaging, HTTP v1: one message to one registration token a call."""

from dataclasses import dataclass, field

import msgspec
from msgspec import Struct
from yarl import URL

from connectors.providers.fcm_errors import outcome_of
from connectors.providers.fcm_token import AccessToken
from connectors.providers.http import DEFAULT_HTTP, Answer, HttpClient, HttpSettings
from connectors.providers.provider import Call
from connectors.providers.service_account import ServiceAccount
from streams.clock import Clock
from streams.outcomes import Accepted, Misconfigured, Outcome, Unknown
from streams.rendering.message import PushMessage

_LONGEST_SECONDS = 2_419_200  # FCM keeps a message for at most four weeks


@dataclass(frozen=True)
class FcmSettings:
    """One Firebase project."""

    service_account: ServiceAccount = field(repr=False)
    url: str = "https://fcm.googleapis.com"
    project_id: str = ""  # "": the service account's own
    http: HttpSettings = DEFAULT_HTTP


class _Notification(Struct, gc=False, omit_defaults=True):
    body: str
    title: str = ""


class _Tag(Struct, gc=False):
    tag: str


class _Android(Struct, gc=False, omit_defaults=True, rename="camel"):
    ttl: str
    notification: _Tag
    collapse_key: str = ""


class _Headers(Struct, gc=False):
    headers: dict[str, str]


class _Message(Struct, gc=False):
    token: str
    notification: _Notification
    data: dict[str, str]
    android: _Android
    apns: _Headers
    webpush: _Headers


class _Request(Struct, gc=False):
    message: _Message


class _Sent(Struct, gc=False):
    name: str


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(_Sent).decode


class Fcm:
    """Sends push messages; a repeat of one replaces it on the phone (tag = delivery id).

    FCM knows no idempotency key and gives no receipts: `Accepted` is all it ever says.
    """

    name = "fcm"
    channel = "push"

    def __init__(self, settings: FcmSettings, clock: Clock) -> None:
        project = settings.project_id or settings.service_account.project_id
        self.account = project
        self._url = URL(f"{settings.url.rstrip('/')}/v1/projects/{project}/messages:send")
        self._clock = clock
        self._http = HttpClient(settings.http)
        self._token = AccessToken(settings.service_account, self._http, clock)

    async def send(self, call: Call) -> Outcome:
        """Make one attempt; never raises for what FCM or the network does."""
        headers = await self._token.headers()
        if isinstance(headers, Struct):
            return headers
        answer = await self._http.post(self._url, headers, self._request(call))
        if not isinstance(answer, Answer):
            return answer
        if answer.status == 200:
            self._token.accepted()
            return _accepted(answer)
        outcome = outcome_of(answer)
        if answer.status == 401 and isinstance(outcome, Misconfigured) and outcome.scope == "account":
            return self._token.refused(headers)
        return outcome

    def _request(self, call: Call) -> bytes:
        message = call.message
        if not isinstance(message, PushMessage):
            raise TypeError("fcm sends push messages only")
        seconds = min(max(call.expires_at_ms - call.now_ms, 0) // 1000, _LONGEST_SECONDS)
        tag = call.collapse_key or call.delivery_id
        expires = self._clock.now_ms() // 1000 + seconds if seconds else 0
        return _encode(
            _Request(
                _Message(
                    token=call.address,
                    notification=_Notification(message.body, message.title),
                    data={**message.data, "delivery_id": call.delivery_id},
                    android=_Android(f"{seconds}s", _Tag(tag), call.collapse_key),
                    # Apple would keep it for 30 days otherwise; 0 means now or never.
                    apns=_Headers({"apns-expiration": str(expires), "apns-collapse-id": tag[:64]}),
                    webpush=_Headers({"TTL": str(seconds)}),
                )
            )
        )

    async def close(self) -> None:
        """Give back connections."""
        await self._token.close()
        await self._http.close()


def _accepted(answer: Answer) -> Outcome:
    """Success is a message name, nothing less (FAI-06)."""
    try:
        name = _decode(answer.body).name
    except (msgspec.DecodeError, msgspec.ValidationError):
        return Unknown("NO_MESSAGE_NAME")
    return Accepted(name) if name else Unknown("NO_MESSAGE_NAME")
