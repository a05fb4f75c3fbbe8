"""Samples what the senders publish about their pace, breaker and calls under way."""

import asyncio
import time
from collections.abc import Callable

import structlog
from msgspec import Struct
from redis.asyncio import Redis
from redis.exceptions import RedisError

from connectors.pacing.status import ProviderStatus, StatusBoard

_EVERY_S = 0.25


class Sample(Struct, frozen=True):
    """One provider at one moment, `at_s` after sampling began."""

    at_s: float
    status: ProviderStatus


class PacingLog:
    """Reads the board while the context is open; `samples` grow, `latest` is by provider."""

    def __init__(self, redis_url: str) -> None:
        self._client = Redis.from_url(redis_url)
        self._board = StatusBoard(self._client, structlog.get_logger(__name__))
        self._begun = time.monotonic()
        self._news = asyncio.Event()
        self._seen: dict[str, int] = {}
        self._task: asyncio.Task[None] | None = None
        self.samples: list[Sample] = []
        self.latest: dict[str, ProviderStatus] = {}

    def now_s(self) -> float:
        """Return the moment on the samples' scale."""
        return time.monotonic() - self._begun

    async def until(self, is_so: Callable[[], bool], patience_s: float) -> bool:
        """Wait until something holds of `latest`; False when the patience is over."""
        try:
            async with asyncio.timeout(patience_s):
                while not is_so():
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            return False
        return True

    async def __aenter__(self) -> "PacingLog":
        self._task = asyncio.create_task(self._run())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await self._client.aclose()

    async def _run(self) -> None:
        while True:
            try:
                for process in await self._board.read():
                    if self._seen.get(process.member) != process.at_ms:
                        self._seen[process.member] = process.at_ms
                        for status in process.providers:
                            self.latest[status.provider] = status
                            self.samples.append(Sample(self.now_s(), status))
                self._news.set()
            except (RedisError, OSError):
                pass  # no sample now: the chart shows the gap
            await asyncio.sleep(_EVERY_S)
