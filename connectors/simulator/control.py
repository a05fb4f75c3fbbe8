"""The control calls under `/_sim/`: what tests, the demo and the audit ask and set."""

import hmac
from collections.abc import Awaitable, Callable

import msgspec
from aiohttp import web
from msgspec import Struct

from connectors.simulator.entry import Counts
from connectors.simulator.exchange import SIMULATED, Exchange
from connectors.simulator.judge import Judge
from connectors.simulator.ledger import Ledger
from connectors.simulator.script import Script

_MOST_ENTRIES = 1_000


class Scene(Struct, frozen=True, forbid_unknown_fields=True):
    """The scene that rules with scenes wait for; "" is none."""

    scene: str


class Switch(Struct, frozen=True, forbid_unknown_fields=True):
    """Rules of this name, on or off."""

    name: str
    enabled: bool


class Stats(Struct, frozen=True):
    """What was answered since the start or the last reset, and the whole ledger in numbers."""

    scene: str
    answers: dict[str, dict[str, int]]  # provider -> what it answered -> how often
    ledger: Counts


class Control:
    """Answers control calls that bring the token; what one sets is in force when it is answered."""

    def __init__(
        self,
        token: str,
        judge: Judge,
        ledger: Ledger,
        exchange: Exchange,
        changed: Callable[[], Awaitable[None]],
    ) -> None:
        self._authorization = f"Bearer {token}".encode()
        self._judge = judge
        self._ledger = ledger
        self._exchange = exchange
        self._changed = changed

    async def call(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one control call: JSON, or a text that says what is wrong with it."""
        if request.path == "/_sim/health":
            return _json({"status": "ok"})
        given = request.headers.get("Authorization", "").encode()
        if not hmac.compare_digest(given, self._authorization):
            return _wrong(401, "this call needs the token of the token file")
        try:
            answer = self._answer(request, await request.read())
        except (msgspec.MsgspecError, ValueError) as error:
            return _wrong(400, str(error))
        if request.method != "GET":
            await self._changed()
        return answer

    def _answer(self, request: web.BaseRequest, body: bytes) -> web.Response:
        match request.method, request.path.removeprefix("/_sim/"):
            case "GET", "script":
                return _json(self._judge.script)
            case "PUT", "script":
                self._judge.load(msgspec.json.decode(body, type=Script))
            case "PUT", "scene":
                self._judge.scene = msgspec.json.decode(body, type=Scene).scene
            case "PUT", "rule":
                switch = msgspec.json.decode(body, type=Switch)
                if not self._judge.enable(switch.name, switch.enabled):
                    return _wrong(404, f"no rule is named {switch.name}")
            case "GET", "ledger":
                return self._page(request)
            case "GET", "repeated":
                return _json(self._ledger.repeated())
            case "GET", "stats":
                answers = {name: dict(counts) for name, counts in self._exchange.answers.items()}
                return _json(Stats(self._judge.scene, answers, self._ledger.counts()))
            case "POST", "reset":
                self._ledger.reset()
                self._exchange.answers.clear()
                self._judge.load(self._judge.script)
            case _:
                return _wrong(404, "no such control call")
        return _json({"status": "ok"})

    def _page(self, request: web.BaseRequest) -> web.Response:
        query = request.query
        accepted = query.get("accepted")
        page = self._ledger.page(
            after=int(query.get("after", "-1")),
            limit=max(1, min(int(query.get("limit", "1000")), _MOST_ENTRIES)),
            delivery_id=query.get("delivery_id"),
            address=query.get("address"),
            provider=query.get("provider"),
            accepted=None if accepted is None else accepted == "true",
        )
        return _json(page)


def _json(value: object) -> web.Response:
    return web.Response(
        body=msgspec.json.encode(value), headers={"Content-Type": "application/json", **SIMULATED}
    )


def _wrong(status: int, text: str) -> web.Response:
    return web.Response(status=status, text=text, headers=SIMULATED)
