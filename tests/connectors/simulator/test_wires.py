"""Simulated providers refuse what real ones refuse."""

from base64 import b64encode
from typing import Any
from urllib.parse import urlencode

import msgspec
import pytest

from connectors.providers.http import Answer
from connectors.providers.service_account import ServiceAccount
from connectors.simulator.credentials import Credentials
from connectors.simulator.fcm import FcmWire
from connectors.simulator.oauth import OAuth
from connectors.simulator.twilio import TwilioWire
from connectors.simulator.wire import Arrival, Reply
from tests.connectors.providers.answers import answer

NOW_MS = 1_796_000_000_000


@pytest.fixture(scope="module")
def credentials(tmp_path_factory: pytest.TempPathFactory) -> Credentials:
    """Accounts, made once."""
    return Credentials.of(tmp_path_factory.mktemp("accounts"))


@pytest.fixture
def oauth(credentials: Credentials) -> OAuth:
    """A token endpoint for them."""
    return OAuth(credentials)


def grant(oauth: OAuth, credentials: Credentials, now_ms: int = NOW_MS) -> Answer:
    """Return the endpoint's answer to our own assertion, made at `now_ms`."""
    account = ServiceAccount.read(credentials.service_account("http://127.0.0.1/token"))
    form = {
        "grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer",
        "assertion": account.assertion(now_ms),
    }
    reply = oauth.grant(urlencode(form).encode(), NOW_MS, 3_599)
    return answer(reply.status, reply.body)


def bearer(oauth: OAuth, credentials: Credentials) -> dict[str, str]:
    """Return headers with a good token."""
    return {"Authorization": "Bearer " + msgspec.json.decode(grant(oauth, credentials).body)["access_token"]}


def push(**fields: Any) -> bytes:
    """Return a request for one push, but for these fields of its message."""
    return msgspec.json.encode({"message": {"token": "t", "notification": {"body": "b"}} | fields})


def read(oauth: OAuth, credentials: Credentials, body: bytes, path: str = "") -> Arrival | Reply:
    """Return what FCM makes of a request."""
    wire = FcmWire(credentials.project_id, oauth)
    path = path or f"/v1/projects/{credentials.project_id}/messages:send"
    return wire.read(path, bearer(oauth, credentials), body, NOW_MS)


def test_fcm_takes_a_good_message(oauth: OAuth, credentials: Credentials) -> None:
    """Its delivery id and its text are read from where the app reads them."""
    body = push(notification={"title": "T", "body": "B"}, data={"delivery_id": "d-1"})
    assert read(oauth, credentials, body) == Arrival("t", "d-1", "T\nB")


@pytest.mark.parametrize(
    "fields",
    [
        {"token": ""},
        {"data": {"n": 1}},
        {"data": {"from": "x"}},
        {"data": {"google.x": "x"}},
        {"data": {"blob": "x" * 4_096}},
        {"notification": {"body": "অ" * 1_366}},
    ],
)
def test_fcm_refuses_a_bad_message(oauth: OAuth, credentials: Credentials, fields: dict[str, Any]) -> None:
    """Values that are no strings, keys of its own, and more than 4,096 bytes (TPL-07, TPL-09)."""
    refused = read(oauth, credentials, push(**fields))
    assert isinstance(refused, Reply)
    assert refused.status == 400


def test_fcm_refuses_what_is_no_message(oauth: OAuth, credentials: Credentials) -> None:
    """Bytes, other JSON, and another project."""
    replies = [read(oauth, credentials, body) for body in (b"", b"[]", b'{"message":{}}', b"\xff")]
    replies.append(read(oauth, credentials, push(), "/v1/projects/another/messages:send"))
    assert [reply.status for reply in replies if isinstance(reply, Reply)] == [400, 400, 400, 400, 404]


def test_a_token_is_good_until_its_end_and_nobody_elses_is(oauth: OAuth, credentials: Credentials) -> None:
    """Signed by the simulator, so that a restart knows it again."""
    good = bearer(oauth, credentials)["Authorization"]
    assert OAuth(credentials).admits(good, NOW_MS + 3_598_999)
    assert not oauth.admits(good, NOW_MS + 3_599_000)
    forged = ("", "Bearer", good + "0", good.replace("sim.1", "sim.2"), good.replace("Bearer", "Basic"))
    assert not any(oauth.admits(header, NOW_MS) for header in forged)


@pytest.mark.parametrize("ago_ms, status", [(0, 200), (299_000, 200), (3_700_000, 400), (-400_000, 400)])
def test_an_assertion_is_good_for_its_hour(
    oauth: OAuth, credentials: Credentials, ago_ms: int, status: int
) -> None:
    """A sender whose clock is minutes off gets no token, as at Google's."""
    assert grant(oauth, credentials, NOW_MS - ago_ms).status == status


@pytest.mark.parametrize("body", [b"", b"grant_type=password", b"\xff=\xff"])
def test_another_grant_is_refused(oauth: OAuth, body: bytes) -> None:
    """Only service accounts are served."""
    assert oauth.grant(body, NOW_MS, 3_599).status == 400


def texted(credentials: Credentials, **changes: str) -> Arrival | Reply:
    """Return what Twilio makes of a text, but for these parameters ("" leaves one out)."""
    form = {"To": "+8801712345678", "From": "+15005550006", "Body": "b", "ValidityPeriod": "60"}
    form["StatusCallback"] = "https://harkara.example/w?delivery_id=d-1&sig=0"
    user = f"{credentials.twilio_account_sid}:{credentials.twilio_auth_token}"
    headers = {"Authorization": f"Basic {b64encode(user.encode()).decode()}"}
    sid = credentials.twilio_account_sid
    body = urlencode({name: value for name, value in (form | changes).items() if value}).encode()
    return TwilioWire(credentials).read(f"/2010-04-01/Accounts/{sid}/Messages.json", headers, body, NOW_MS)


def test_twilio_takes_a_good_text(credentials: Credentials) -> None:
    """Its delivery id is in the address for receipts."""
    assert texted(credentials) == Arrival("+8801712345678", "d-1", "b")
    assert texted(credentials, From="", MessagingServiceSid="MG1", StatusCallback="") == Arrival(
        "+8801712345678", "", "b"
    )


@pytest.mark.parametrize(
    "changes, code",
    [
        ({"To": ""}, 21604),
        ({"To": "01712345678"}, 21211),
        ({"From": ""}, 21603),
        ({"Body": ""}, 21602),
        ({"Body": "x" * 1_601}, 21617),
        ({"ValidityPeriod": "0"}, 21655),
        ({"ValidityPeriod": "36001"}, 21655),
        ({"ValidityPeriod": "soon"}, 21655),
    ],
)
def test_twilio_refuses_a_bad_text(credentials: Credentials, changes: dict[str, str], code: int) -> None:
    """By the code that its documentation gives."""
    refused = texted(credentials, **changes)
    assert isinstance(refused, Reply)
    assert msgspec.json.decode(refused.body)["code"] == code


def test_twilio_knows_its_accounts_only(credentials: Credentials) -> None:
    """A wrong secret is 401, another account's path is 404."""
    wire = TwilioWire(credentials)
    wrong = wire.read("/2010-04-01/Accounts/AC0/Messages.json", {"Authorization": "Basic eDp5"}, b"", NOW_MS)
    assert isinstance(wrong, Reply)
    assert (wrong.status, msgspec.json.decode(wrong.body)["code"]) == (401, 20003)


def test_message_ids_are_unique_and_of_the_providers_form(credentials: Credentials, oauth: OAuth) -> None:
    """Two messages of one millisecond have two ids."""
    twilio, fcm = TwilioWire(credentials), FcmWire(credentials.project_id, oauth)
    assert len({twilio.message_id(NOW_MS, n) for n in range(1_000)}) == 1_000
    assert len(twilio.message_id(NOW_MS, 7)) == 34
    assert fcm.message_id(NOW_MS, 7) != fcm.message_id(NOW_MS, 8)
