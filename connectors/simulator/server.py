"""The simulator's sockets: one port for everything, and one for each provider that can be closed."""

import asyncio
import random
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from aiohttp import web

from connectors.simulator.control import Control
from connectors.simulator.credentials import Credentials
from connectors.simulator.exchange import SIMULATED, Exchange
from connectors.simulator.fcm import FcmWire
from connectors.simulator.judge import Judge
from connectors.simulator.ledger import Ledger
from connectors.simulator.oauth import OAuth
from connectors.simulator.port import Port
from connectors.simulator.script import Script
from connectors.simulator.twilio import TwilioWire
from streams.clock import Clock

_GRANT_PATH = "/token"  # where the service account's tokens are asked for


@dataclass(frozen=True)
class SimulatorSettings:
    """Where a simulator listens and keeps its ledger; port 0 is any free one."""

    folder: Path
    token: str = field(repr=False)  # of the control calls
    port: int = 0  # control calls, tokens and every provider
    fcm_port: int = 0  # FCM alone; closed while a rule says `refuse`
    twilio_port: int = 0
    script: Script = field(default_factory=Script)


class Simulator:
    """Simulated providers on loopback, from `start` to `stop`."""

    def __init__(self, settings: SimulatorSettings, clock: Clock, dice: random.Random) -> None:
        settings.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._settings = settings
        self.credentials = Credentials.of(settings.folder)
        oauth = OAuth(self.credentials)
        self._judge = Judge(settings.script, clock, dice)
        self._ledger = Ledger(settings.folder / "ledger.jsonl")
        self._exchange = Exchange(self._judge, self._ledger, oauth, clock)
        self._script_changed = asyncio.Event()
        self._turn = asyncio.Lock()  # between a control call and time, which both move ports
        self._control = Control(
            settings.token, self._judge, self._ledger, self._exchange, self._follow_script
        )
        self._fcm = FcmWire(self.credentials.project_id, oauth)
        self._twilio = TwilioWire(self.credentials)
        self._main = Port(self._any, settings.port)
        self._own = {
            self._fcm.name: Port(self._any, settings.fcm_port),
            self._twilio.name: Port(self._any, settings.twilio_port),
        }
        self._watch: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Listen; afterwards `urls` are true and the service account's file is written."""
        for port in (self._main, *self._own.values()):
            await port.open()  # all of them, so that each has its number
        await self._follow_script()
        self.credentials.write_service_account(self._settings.folder, f"{self._main.url}{_GRANT_PATH}")
        self._watch = asyncio.create_task(self._follow_time())

    @property
    def urls(self) -> dict[str, str]:
        """Base addresses: "control" (serves every provider too), "fcm" and "twilio"."""
        return {"control": self._main.url} | {name: port.url for name, port in self._own.items()}

    async def stop(self) -> None:
        """Stop listening, break what hangs, and close the ledger."""
        if self._watch is not None:
            self._watch.cancel()
            with suppress(asyncio.CancelledError):
                await self._watch
        for port in (self._main, *self._own.values()):
            await port.close()
        self._ledger.close()

    async def _any(self, request: web.BaseRequest) -> web.StreamResponse:
        path = request.raw_path
        if path.startswith("/v1/"):
            return await self._exchange.call(self._fcm, request)
        if path.startswith("/2010-04-01/"):
            return await self._exchange.call(self._twilio, request)
        if path == _GRANT_PATH:
            return await self._exchange.grant(request)
        if path.startswith("/_sim/"):
            return await self._control.call(request)
        return web.Response(status=404, text="no simulated provider answers here", headers=SIMULATED)

    async def _follow_script(self) -> None:
        """Close and open the providers' ports as the script says now."""
        async with self._turn:
            for name, port in self._own.items():
                if self._judge.refuses(name):
                    await port.close()
                else:
                    await port.open()
        self._script_changed.set()

    async def _follow_time(self) -> None:
        """Do the same whenever a rule's time begins or ends."""
        while True:
            self._script_changed.clear()
            wait_ms = self._judge.next_change_ms()
            with suppress(TimeoutError):
                async with asyncio.timeout(None if wait_ms is None else wait_ms / 1000):
                    await self._script_changed.wait()
                    continue
            await self._follow_script()
