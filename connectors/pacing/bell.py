"""Wakes tasks when something changes, and in bounded time when nothing does."""

from asyncio import Future, get_running_loop


class Bell:
    """Rung by whoever changes something; heard by all who wait at that moment."""

    def __init__(self) -> None:
        self._listening: set[Future[None]] = set()

    def ring(self) -> None:
        """Wake everybody who waits; cheap when nobody does."""
        while self._listening:
            _wake(self._listening.pop())

    async def wait(self, most_ms: float) -> None:
        """Return at the next ring, or after `most_ms`."""
        loop = get_running_loop()
        heard: Future[None] = loop.create_future()
        self._listening.add(heard)
        timer = loop.call_later(most_ms / 1000, _wake, heard)
        try:
            await heard
        finally:
            timer.cancel()
            self._listening.discard(heard)


def _wake(heard: "Future[None]") -> None:
    if not heard.done():
        heard.set_result(None)
