"""A loopback port that can be closed and opened again while the process runs."""

import asyncio
from collections.abc import Awaitable, Callable

from aiohttp import web
from aiohttp.web_request import BaseRequest

Handler = Callable[[BaseRequest], Awaitable[web.StreamResponse]]

_BACKLOG = 1_024


class Port:
    """Serves HTTP on 127.0.0.1; port 0 becomes a free one at the first `open` and stays that."""

    def __init__(self, handler: Handler, port: int) -> None:
        self._handler = handler
        self._port = port
        self._http: web.Server | None = None
        self._listener: asyncio.Server | None = None

    @property
    def url(self) -> str:
        """The base address, without a slash at its end."""
        return f"http://127.0.0.1:{self._port}"

    async def open(self) -> None:
        """Listen; no effect while open."""
        if self._listener is not None:
            return
        # No access log and no routes: a call costs microseconds, and every one is in the ledger.
        self._http = web.Server(self._handler, access_log=None, handler_cancellation=True)
        self._listener = await asyncio.get_running_loop().create_server(
            self._http, "127.0.0.1", self._port, backlog=_BACKLOG
        )
        self._port = self._listener.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Refuse new connections and break open ones; no effect while closed."""
        if self._listener is None or self._http is None:
            return
        self._listener.close()
        for connection in self._http.connections:
            connection.force_close()
        await self._http.shutdown(timeout=0)
        self._listener = self._http = None
