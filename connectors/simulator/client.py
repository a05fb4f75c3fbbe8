"""Sets a running simulator's script and reads its ledger: for tests, the demo and the audit."""

from collections.abc import AsyncIterator
from typing import TypeVar

import msgspec
from aiohttp import ClientSession, ClientTimeout
from yarl import URL

from connectors.simulator.control import Scene, Stats, Switch
from connectors.simulator.entry import Entry, Page
from connectors.simulator.script import Script

T = TypeVar("T")


class SimulatorError(Exception):
    """The simulator refused a control call; the text says why."""


class SimulatorClient:
    """Speaks to one simulator, inside `async with SimulatorClient(url, token) as simulator`."""

    def __init__(self, url: str, token: str) -> None:
        self._url = url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {token}"}
        self._session: ClientSession | None = None

    async def __aenter__(self) -> "SimulatorClient":
        self._session = ClientSession(headers=self._headers, timeout=ClientTimeout(total=30))
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def script(self) -> Script:
        """Return the script it follows."""
        return await self._ask("GET", "script", Script)

    async def follow(self, script: Script) -> None:
        """Follow another script; its times begin now."""
        await self._tell("PUT", "script", script)

    async def set_scene(self, scene: str) -> None:
        """Begin a scene: rules that name it apply, rules that name others do not."""
        await self._tell("PUT", "scene", Scene(scene))

    async def enable(self, rule: str, on: bool = True) -> None:
        """Switch the rules of this name."""
        await self._tell("PUT", "rule", Switch(rule, on))

    async def stats(self) -> Stats:
        """Return what was answered and the ledger in numbers."""
        return await self._ask("GET", "stats", Stats)

    async def repeated(self) -> dict[str, int]:
        """Return the deliveries that went out more than once, and how often."""
        return await self._ask("GET", "repeated", dict[str, int])

    async def entries(
        self,
        delivery_id: str | None = None,
        address: str | None = None,
        provider: str | None = None,
        accepted: bool | None = None,
        *,
        since: int = 0,
    ) -> AsyncIterator[Entry]:
        """Yield the ledger's entries that fit every filter, from number `since` on, oldest first."""
        query = {"delivery_id": delivery_id, "address": address, "provider": provider}
        if accepted is not None:
            query["accepted"] = "true" if accepted else "false"
        given = {name: value for name, value in query.items() if value is not None}
        after: int | None = since - 1
        while after is not None:
            page = await self._ask("GET", "ledger", Page, given | {"after": str(after)})
            for entry in page.entries:
                yield entry
            after = page.after

    async def reset(self) -> None:
        """Forget the ledger and all counts; the script begins anew."""
        await self._tell("POST", "reset", None)

    async def _tell(self, method: str, call: str, body: object) -> None:
        await self._ask(method, call, dict[str, str], body=msgspec.json.encode(body))

    async def _ask(
        self,
        method: str,
        call: str,
        answer: type[T],
        query: dict[str, str] | None = None,
        body: bytes | None = None,
    ) -> T:
        if self._session is None:
            raise SimulatorError("use the client inside `async with`")
        url = URL(f"{self._url}/_sim/{call}").with_query(query or {})
        async with self._session.request(method, url, data=body) as response:
            content = await response.read()
            if response.status != 200:
                raise SimulatorError(f"{response.status} {content.decode(errors='replace')}")
            return msgspec.json.decode(content, type=answer)
