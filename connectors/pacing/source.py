"""Where leases come from: Valkey, or this process alone while Valkey is away."""

import asyncio
import random
from collections.abc import Callable

from redis.exceptions import RedisError
from structlog.typing import FilteringBoundLogger

from connectors.kafka.exits import leave_on_error
from connectors.once import Once
from connectors.pacing.lease_settings import LeaseSettings
from connectors.pacing.local_quota import LocalQuota
from connectors.pacing.shared_quota import SharedQuota
from streams.policy.quota import Ask, Lease


class Source:
    """Answers every question: by the shared quota if it can, else at this worker's last share of it.

    The change is logged once each way; who asks notices nothing but `alone`.
    """

    def __init__(
        self,
        shared: SharedQuota,
        dice: random.Random,
        log: FilteringBoundLogger,
        now_ms: Callable[[], float],
        settings: LeaseSettings,
    ) -> None:
        self._shared, self._dice, self._now, self._settings = shared, dice, now_ms, settings
        self._once = Once(log)
        self._local: LocalQuota | None = None
        self._returning: asyncio.Task[None] | None = None
        self._share = 0.0
        self._closed = False

    @property
    def alone(self) -> bool:
        """Whether Valkey is away."""
        return self._local is not None

    async def ask(self, wish: Ask) -> Lease:
        """Report and take; never raises for what Valkey does, and waits for it at most once."""
        if self._local is None:
            try:
                lease = await self._ask_shared(wish)
            except (RedisError, OSError) as error:  # TimeoutError is an OSError
                self._local = self._leave(type(error).__name__, wish.member)
            else:
                self._share = lease.alone
                return lease
        return self._local.ask(self._now(), wish)

    async def close(self) -> None:
        """Stop looking for Valkey."""
        self._closed = True
        if self._returning is not None:
            self._returning.cancel()
            await asyncio.gather(self._returning, return_exceptions=True)

    async def _ask_shared(self, wish: Ask) -> Lease:
        async with asyncio.timeout(self._settings.answer_ms / 1000):
            return await self._shared.ask(wish)

    def _leave(self, error: str, member: str) -> LocalQuota:
        rate = round(self._share, 1)
        self._once.warn(
            "valkey",
            "valkey does not answer, paced alone",
            provider=self._shared.name,
            rate=rate,
            error=error,
        )
        limits = self._shared.limits
        recover_ms = round(limits.recover_ms * self._dice.uniform(0.8, 1.2))
        self._returning = asyncio.get_running_loop().create_task(
            self._return(member), name="return to valkey"
        )
        self._returning.add_done_callback(leave_on_error)
        return LocalQuota(limits, self._shared.sharing, self._share, recover_ms, self._now())

    async def _return(self, member: str) -> None:
        """Ask now and then, with growing pauses, until Valkey answers."""
        pause_ms = self._settings.retry_ms
        while not self._closed:
            await asyncio.sleep(pause_ms * self._dice.uniform(0.8, 1.2) / 1000)
            try:
                lease = await self._ask_shared(Ask(member))
            except (RedisError, OSError):
                pause_ms = min(2 * pause_ms, self._settings.longest_retry_ms)
            else:
                self._local, self._share = None, lease.alone
                self._once.over("valkey", "valkey answers again", provider=self._shared.name)
                return
