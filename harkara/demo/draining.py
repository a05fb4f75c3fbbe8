"""Knows when nothing is under way any more."""

import asyncio
import time
from collections.abc import Callable

from connectors.kafka.lags import Lags
from harkara.watch import Watch
from streams.topics import (
    ACTIVE_CHANNELS,
    DELIVERIES,
    DELIVERY_EVENTS,
    FOLLOWUPS,
    INGEST,
    LANES,
    PROFILES,
    ROUTER_APP,
    SINK_APP,
    STOPS,
    sender_app,
)

_POLL_S = 0.2
_GROUPS = {
    ROUTER_APP: (PROFILES, *INGEST.values(), *FOLLOWUPS.values()),
    **{
        sender_app(channel, lane): (DELIVERIES[channel, lane], STOPS)
        for channel in ACTIVE_CHANNELS
        for lane in LANES
    },
    SINK_APP: (DELIVERY_EVENTS,),
}


class Draining:
    """Asks the broker for lags, and the public feed for what is open or due soon."""

    def __init__(self, bootstrap: str, watch: Watch, now_ms: Callable[[], int]) -> None:
        self._lags = Lags(bootstrap, _GROUPS)
        self._watch = watch
        self._now_ms = now_ms

    async def wait(self, patience_s: float, soon_ms: int = 0) -> bool:
        """Return True once everything is consumed and nothing is under way or due within `soon_ms`.

        False when the patience is over.
        """
        start = time.monotonic()
        while not await asyncio.to_thread(self._drained, soon_ms):
            if time.monotonic() - start > patience_s:
                return False
            await asyncio.sleep(_POLL_S)
        return True

    def _drained(self, soon_ms: int) -> bool:
        """Whether nothing is left; what is quick to ask is asked first."""
        if self._open(soon_ms):
            return False
        # Lags before the feed: what the last consumed record caused is in the feed by then.
        return not any(self._lags.measure().values()) and not self._watch.behind() and not self._open(soon_ms)

    def _open(self, soon_ms: int) -> int:
        before_ms = self._now_ms() + soon_ms
        return self._watch.ask(lambda tally: tally.open(before_ms))
