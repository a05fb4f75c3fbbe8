"""The access token of a service account: asked for once by all, and renewed before it ends."""

import asyncio
from urllib.parse import urlencode

import msgspec
from msgspec import Struct
from yarl import URL

from connectors.providers.http import Answer, Headers, HttpClient
from connectors.providers.retry_after import retry_after_ms
from connectors.providers.service_account import ServiceAccount
from streams.clock import Clock
from streams.outcomes import Misconfigured, Unavailable

# Google's own libraries renew 3 min 45 s before the end.
_RENEW_BEFORE_MS = 225_000
_LAST_USE_BEFORE_MS = 10_000
# After a failed grant all calls fail with it for this long, instead of asking again each.
_FAILURE_LASTS_MS = 1_000
_FORM = Headers({"Content-Type": "application/x-www-form-urlencoded"})

NoToken = Unavailable | Misconfigured


class _Grant(Struct, gc=False):
    access_token: str
    expires_in: int = 3599


class _Refusal(Struct, gc=False):
    error: str = ""


_decode = msgspec.json.Decoder(_Grant).decode
_decode_refusal = msgspec.json.Decoder(_Refusal).decode


class AccessToken:
    """Keeps ready headers that authorise a call; however many ask, one grant is under way.

    `clock` is the wall clock: Google refuses claims that are more than minutes off.
    """

    def __init__(self, account: ServiceAccount, http: HttpClient, clock: Clock) -> None:
        self._account = account
        self._http = http
        self._clock = clock
        self._url = URL(account.token_uri)
        self._headers: Headers | None = None
        self._renew_at_ms = 0
        self._useless_at_ms = 0
        self._failure: NoToken | None = None
        self._failure_until_ms = 0
        self._grant: asyncio.Task[Headers | NoToken] | None = None
        self._on_trial = False  # the last token was refused and this one has not been accepted yet

    async def headers(self) -> Headers | NoToken:
        """Return the headers of a valid token, or why there is none (then nothing was sent)."""
        now_ms = self._clock.now_ms()
        if now_ms < self._renew_at_ms and self._headers is not None:
            return self._headers
        # A token that ends soon is still good while the next one comes.
        present = self._headers if now_ms < self._useless_at_ms else None
        if self._failure is not None and now_ms < self._failure_until_ms:
            return self._failure if present is None else present
        self._grant = self._grant or asyncio.create_task(self._renew(now_ms))
        # Shielded: one caller that is cancelled does not take the grant from the others.
        return await asyncio.shield(self._grant) if present is None else present

    def accepted(self) -> None:
        """Note that the provider took a call with the present token."""
        self._on_trial = False

    def refused(self, headers: Headers) -> NoToken:
        """Note a 401 for a call with these headers, and return its outcome.

        The first makes the next call ask for a new token; a new token that is refused as well
        means that the account itself is.
        """
        if headers is not self._headers:
            return Unavailable("UNAUTHENTICATED")  # renewed since this call left
        self._headers, self._renew_at_ms = None, 0
        if self._on_trial:
            return Misconfigured("account", "UNAUTHENTICATED")
        self._on_trial = True
        return Unavailable("UNAUTHENTICATED")

    async def close(self) -> None:
        """Give up a grant that is under way."""
        if self._grant is not None:
            self._grant.cancel()
            await asyncio.gather(self._grant, return_exceptions=True)

    async def _renew(self, now_ms: int) -> Headers | NoToken:
        try:
            granted = await self._ask(now_ms)
        finally:
            self._grant = None
        if not isinstance(granted, _Grant):
            self._failure = granted
            wait_ms = granted.after_ms if isinstance(granted, Unavailable) else 0
            self._failure_until_ms = self._clock.now_ms() + max(wait_ms, _FAILURE_LASTS_MS)
            return granted
        life_ms = granted.expires_in * 1000
        self._failure = None
        self._renew_at_ms = now_ms + max(life_ms - _RENEW_BEFORE_MS, life_ms // 2)
        self._useless_at_ms = now_ms + life_ms - _LAST_USE_BEFORE_MS
        self._headers = Headers(
            {"Authorization": f"Bearer {granted.access_token}", "Content-Type": "application/json"}
        )
        return self._headers

    async def _ask(self, now_ms: int) -> _Grant | NoToken:
        form = {
            "grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer",
            "assertion": self._account.assertion(now_ms),
        }
        answer = await self._http.post(self._url, _FORM, urlencode(form).encode())
        if not isinstance(answer, Answer):
            # Whatever became of the request for a token, no message has left.
            return answer if isinstance(answer, Misconfigured) else Unavailable(f"TOKEN_{answer.code}")
        try:
            if answer.status == 200:
                return _decode(answer.body)
            error = _decode_refusal(answer.body).error
        except (msgspec.DecodeError, msgspec.ValidationError):
            error = ""
        if error and 400 <= answer.status < 500 and answer.status != 429:
            return Misconfigured("account", f"TOKEN_{error[:40].upper()}")
        return Unavailable(f"TOKEN_HTTP_{answer.status}", retry_after_ms(answer.headers) or 0)
