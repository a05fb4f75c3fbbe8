"""What really goes over the wire, read by a server that only records."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec
import pytest
from aiohttp import web
from msgspec import structs

from connectors.providers.callback import delivery_of
from connectors.providers.fcm import Fcm, FcmSettings
from connectors.providers.provider import Call
from connectors.providers.service_account import ServiceAccount
from connectors.providers.twilio import Twilio, TwilioSettings
from streams.clock import FixedClock
from streams.outcomes import Accepted, EndpointGone, Outcome, Unknown
from streams.rendering.message import PushMessage
from tests.connectors.simulator.running import QUICK, Running, call

SECRET = b"a secret of the tests"


@dataclass
class Recorder:
    """Answers what it is told to, and keeps every request."""

    url: str = ""
    answer: Any = None
    requests: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Keep the request; give a token to whoever asks for one."""
        body = await request.read()
        if request.path == "/token":
            return web.Response(body=b'{"access_token":"t","expires_in":3599}')
        self.requests.append((request.raw_path, dict(request.headers), body))
        return web.Response(status=201 if request.path.endswith(".json") else 200, body=self.answer)


@pytest.fixture
async def recorder() -> AsyncIterator[Recorder]:
    """A server on loopback."""
    recorder = Recorder()
    runner = web.ServerRunner(web.Server(recorder.handle))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    recorder.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield recorder
    await runner.cleanup()


@pytest.fixture
def account(lab: Running, recorder: Recorder) -> ServiceAccount:
    """An account that gets its tokens from the recorder."""
    found = ServiceAccount.read((lab.folder / "fcm-service-account.json").read_bytes())
    return ServiceAccount(found.client_email, f"{recorder.url}/token", "p-1", found.key_id, found.key)


async def pushed(recorder: Recorder, account: ServiceAccount, sent: Call) -> dict[str, Any]:
    """Return the message that FCM got."""
    recorder.answer = b'{"name":"projects/p-1/messages/1"}'
    fcm = Fcm(FcmSettings(account, recorder.url, http=QUICK), FixedClock(1_796_000_000_000))
    assert await fcm.send(sent) == Accepted("projects/p-1/messages/1")
    await fcm.close()
    message: dict[str, Any] = msgspec.json.decode(recorder.requests[-1][2])["message"]
    return message


async def texted(recorder: Recorder, sent: Call, **settings: Any) -> tuple[Outcome, dict[str, str]]:
    """Return the outcome, and the form that Twilio got."""
    recorder.answer = recorder.answer or b'{"sid":"SM1"}'
    own: dict[str, Any] = {"sender": "+15005550006", "url": recorder.url, "http": QUICK} | settings
    callback = "https://harkara.example/webhooks/twilio"
    twilio = Twilio(
        TwilioSettings("AC1", "s3", callback=callback, callback_secret=SECRET, **own), FixedClock(0)
    )
    outcome = await twilio.send(sent)
    await twilio.close()
    form = parse_qs(recorder.requests[-1][2].decode(), strict_parsing=True)
    return outcome, {name: value for name, (value,) in form.items()}


async def test_a_push_carries_its_delivery_id_and_what_is_left_of_its_time(
    recorder: Recorder, account: ServiceAccount
) -> None:
    """The app learns the delivery; each platform learns when to give up; a repeat replaces (tag)."""
    message = await pushed(recorder, account, call("push", "d-1", "token-1"))
    assert message == {
        "token": "token-1",
        "notification": {"title": "Shipped", "body": "Order 7 is on its way."},
        "data": {"order": "7", "delivery_id": "d-1"},
        "android": {"ttl": "60s", "notification": {"tag": "d-1"}},
        "apns": {"headers": {"apns-expiration": "1796000060", "apns-collapse-id": "d-1"}},
        "webpush": {"headers": {"TTL": "60"}},
    }
    path, headers, _ = recorder.requests[0]
    assert path == "/v1/projects/p-1/messages:send"
    assert (headers["Authorization"], headers["Content-Type"]) == ("Bearer t", "application/json")


async def test_a_collapse_key_replaces_the_delivery_id(recorder: Recorder, account: ServiceAccount) -> None:
    """Messages of one key replace each other, waiting and shown."""
    message = await pushed(recorder, account, structs.replace(call("push"), collapse_key="score"))
    assert message["android"] == {"ttl": "60s", "notification": {"tag": "score"}, "collapseKey": "score"}


@pytest.mark.parametrize("left_ms, ttl", [(-5, "0s"), (999, "0s"), (1_000, "1s"), (10**10, "2419200s")])
async def test_a_push_lives_no_longer_than_its_delivery(
    recorder: Recorder, account: ServiceAccount, left_ms: int, ttl: str
) -> None:
    """Nothing left is now or never, and four weeks are the most."""
    message = await pushed(recorder, account, structs.replace(call("push"), now_ms=0, expires_at_ms=left_ms))
    assert message["android"]["ttl"] == ttl
    assert (message["apns"]["headers"]["apns-expiration"] == "0") == (ttl == "0s")


async def test_the_largest_rendered_push_stays_within_fcms_bytes(
    recorder: Recorder, account: ServiceAccount
) -> None:
    """What the adapter adds fits into the room that rendering leaves (TPL-09)."""
    delivery_id = "550e8400-e29b-41d4-a716-446655440000"
    big = PushMessage("t", "আ" * 1300, {})
    message = await pushed(recorder, account, structs.replace(call("push", delivery_id), message=big))
    shown = {"notification": message["notification"], "data": message["data"]}
    assert len(msgspec.json.encode(shown)) <= 4096


async def test_a_text_carries_its_time_and_a_signed_callback(recorder: Recorder) -> None:
    """Twilio's queue gives up when the delivery expires, and reports under our delivery id."""
    outcome, form = await texted(recorder, call("sms", "d-1", "+8801712345678"))
    callback = urlsplit(form.pop("StatusCallback"))
    assert outcome == Accepted("SM1", 1, 0, "USD")
    assert form == {
        "To": "+8801712345678",
        "From": "+15005550006",
        "Body": "Order 7 is on its way.",
        "ValidityPeriod": "60",
    }
    assert (callback.scheme, callback.hostname, callback.path) == (
        "https",
        "harkara.example",
        "/webhooks/twilio",
    )
    assert delivery_of(callback.query, SECRET) == "d-1"
    path, headers, _ = recorder.requests[0]
    assert path == "/2010-04-01/Accounts/AC1/Messages.json"
    assert headers["Authorization"] == "Basic QUMxOnMz"


async def test_an_api_key_and_a_messaging_service_take_their_places(recorder: Recorder) -> None:
    """The preferred way to authenticate, and the sender that Twilio chooses itself."""
    _, form = await texted(recorder, call("sms"), sender="MG1", api_key="SK1")
    assert (form["MessagingServiceSid"], "From" in form) == ("MG1", False)
    assert recorder.requests[0][1]["Authorization"] == "Basic U0sxOnMz"


@pytest.mark.parametrize("left_ms, seconds", [(-5, "1"), (1_999, "1"), (10**9, "36000")])
async def test_a_texts_time_is_within_what_twilio_takes(
    recorder: Recorder, left_ms: int, seconds: str
) -> None:
    """A period outside 1 to 36,000 seconds would be refused."""
    _, form = await texted(recorder, structs.replace(call("sms"), now_ms=0, expires_at_ms=left_ms))
    assert form["ValidityPeriod"] == seconds


@pytest.mark.parametrize(
    "created, outcome",
    [
        ({"sid": "SM1", "num_segments": "3"}, Accepted("SM1", 3, 30, "USD")),
        ({"sid": "SM1", "num_segments": "0", "price": None}, Accepted("SM1", 1, 10, "USD")),
        (
            {"sid": "SM1", "num_segments": 2, "price": "-0.00750", "price_unit": "EUR"},
            Accepted("SM1", 2, 7_500, "EUR"),
        ),
        ({"sid": "SM1", "num_segments": "nan", "price": "free"}, Accepted("SM1", 1, 10, "USD")),
        ({"sid": "SM1", "status": "failed", "error_code": 21614}, EndpointGone("21614")),
        ({"sid": "SM1", "status": "failed", "error_code": None}, Unknown("0")),
        ({"sid": ""}, Unknown("NO_MESSAGE_SID")),
    ],
)
async def test_twilios_own_count_and_price_win(
    recorder: Recorder, created: dict[str, Any], outcome: Outcome
) -> None:
    """What it does not say yet is ours; a success in name only is none (FAI-06)."""
    recorder.answer = msgspec.json.encode(created)
    assert (await texted(recorder, call("sms"), price_micros=10))[0] == outcome
