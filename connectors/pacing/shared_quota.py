"""A quota whose memory is in Valkey: one script call takes a report in and a lease out."""

from importlib import resources
from typing import Any

import msgspec
from redis.asyncio import Redis

from streams.policy.pace import Limits
from streams.policy.quota import Ask, Lease, Sharing

_encode = msgspec.json.Encoder().encode


class SharedQuota:
    """One quota of one account, the same for every process that names it so.

    Processes that ask with different limits or sharing disagree only until all have the newer.
    """

    def __init__(self, client: Redis, name: str, limits: Limits, sharing: Sharing) -> None:
        script = resources.files(__package__).joinpath("lease.lua").read_text(encoding="utf-8")
        self._script = client.register_script(script)
        self.name, self.limits, self.sharing = name, limits, sharing
        self._keys = [f"harkara:pace:{{{name}}}"]
        self._limits, self._sharing = _encode(limits), _encode(sharing)

    async def ask(self, wish: Ask) -> Lease:
        """Report and take; raises what the client raises when Valkey does not answer."""
        reply: list[Any] = await self._script(
            keys=self._keys, args=[self._limits, self._sharing, _encode(wish)]
        )
        return read_lease(reply)


def read_lease(reply: list[Any]) -> Lease:
    """Return the lease in the script's reply (its order is the script's last lines)."""
    rates = [float(rate) for rate in reply[10:]]
    return Lease(
        (reply[0], reply[1], reply[2]),
        (reply[3], reply[4], reply[5]),
        (rates[0], rates[1], rates[2]),
        alone=rates[3],
        rate=rates[4],
        good=rates[5],
        phase=reply[6],
        paused_ms=reply[7],
        members=reply[8],
    )
