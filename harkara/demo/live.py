"""What a person sees while the day goes by: scenes as lines, and one line that lives."""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress

from rich.console import Console
from rich.live import Live
from rich.text import Text

_EVERY_S = 0.25


class LiveStatus:
    """Prints scenes to standard error; on a terminal one line below them tells how things stand."""

    def __init__(self, console: Console, line: Callable[[], str]) -> None:
        self._console = console
        self._line = line
        self._begun = time.monotonic()
        self._live = Live(console=console, auto_refresh=False, transient=True)
        self._task: asyncio.Task[None] | None = None

    def say(self, text: str) -> None:
        """Print one line with the seconds since the start."""
        self._console.print(f"{time.monotonic() - self._begun:5.1f} s  {text}")

    async def __aenter__(self) -> "LiveStatus":
        if self._console.is_terminal:
            self._live.start()
            self._task = asyncio.create_task(self._run())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
            self._live.stop()

    async def _run(self) -> None:
        while True:
            self._live.update(Text(self._line(), overflow="ellipsis", no_wrap=True), refresh=True)
            await asyncio.sleep(_EVERY_S)
