"""Tokens in hand and who waits for one: the part of a lease that asks nobody."""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence

from msgspec import Struct

from streams.topics import LANES, Lane


class Grant(Struct, frozen=True, gc=False):
    """Leave to make one call; if none is made, it is given back."""

    lane: Lane


Place = asyncio.Future[Grant | None]
NUMBERS = {lane: number for number, lane in enumerate(LANES)}
_GRANTS = tuple(Grant(lane) for lane in LANES)


class Hand:
    """Serves the most urgent lane first, and inside a lane who came first.

    Lanes are numbered, 0 is the most urgent. A lane may use tokens that were granted to lower
    lanes, never the other way round.
    """

    def __init__(self) -> None:
        self.tokens = [0, 0, 0]
        #: By lane, places in order with the instant at which each is given up.
        self._queues: tuple[OrderedDict[Place, float], ...] = (OrderedDict(), OrderedDict(), OrderedDict())

    def waiting(self, lane: int) -> int:
        """Return how many wait in a lane."""
        return len(self._queues[lane])

    def take(self, lane: int) -> Grant | None:
        """Return a grant if one is there and nobody of this lane waits already."""
        if self._queues[lane]:
            return None
        tokens = self.tokens
        for source in range(lane, 3):
            if tokens[source] > 0:
                tokens[source] -= 1
                return _GRANTS[lane]
        return None

    def add(self, tokens: Sequence[int]) -> None:
        """Put tokens in, by lane, and serve those who wait."""
        for lane in range(3):
            self.tokens[lane] += tokens[lane]
        for lane, queue in enumerate(self._queues):
            for source in range(lane, 3):
                while queue and self.tokens[source] > 0:
                    place, _ = queue.popitem(last=False)
                    if not place.done():
                        self.tokens[source] -= 1
                        place.set_result(_GRANTS[lane])

    def give_back(self, grant: Grant) -> None:
        """Put one token back."""
        self.add([int(lane is grant.lane) for lane in LANES])

    def empty(self) -> int:
        """Take all tokens out and return how many there were."""
        count = sum(self.tokens)
        self.tokens = [0, 0, 0]
        return count

    def dismiss(self, until_ms: float) -> None:
        """Send those away who would give up before `until_ms`: nothing comes any earlier."""
        for queue in self._queues:
            for place, last_ms in queue.items():
                if last_ms < until_ms:
                    _give_up(place)

    async def wait(self, lane: int, now_ms: float, until_ms: float) -> Grant | None:
        """Return a grant as soon as one comes to this place in the lane's queue, None at `until_ms`."""
        loop = asyncio.get_running_loop()
        place: Place = loop.create_future()
        self._queues[lane][place] = until_ms
        timer = loop.call_later(max(0.0, until_ms - now_ms) / 1000, _give_up, place)
        try:
            return await place
        except asyncio.CancelledError:
            # The grant and the cancellation may have come in the same turn of the loop.
            if not place.cancelled() and (grant := place.result()) is not None:
                self.give_back(grant)
            raise
        finally:
            timer.cancel()
            self._queues[lane].pop(place, None)


def _give_up(place: Place) -> None:
    if not place.done():
        place.set_result(None)
