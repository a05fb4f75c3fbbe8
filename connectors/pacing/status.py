"""How the pacing of each process stands, for people and metrics, published where all can read it."""

from collections.abc import Iterable

import msgspec
from msgspec import Struct
from redis.asyncio import Redis
from redis.exceptions import RedisError
from structlog.typing import FilteringBoundLogger

from connectors.once import Once
from connectors.pacing.line import Line
from streams.policy.pace import Phase

_PUBLISHED_MS = 10_000  # a process that says nothing for so long is gone
_INDEX = "harkara:pacing"


class ProviderStatus(Struct, frozen=True, omit_defaults=True):
    """One provider as one process sees it; rates are calls a second."""

    provider: str
    channel: str
    account: str
    breaker: str  # "closed", "open", "half_open"
    in_flight: int
    rate: float = 0.0  # of the whole quota; 0: nothing was asked yet
    good: float = 0.0  # last pace known to be allowed
    phase: str = ""  # "slow_start", "recover", "plateau", "probe"
    workers: int = 0  # that share the quota at present
    is_local: bool = False  # Valkey is away: the rate is this process's own
    paused_ms: int = 0  # the provider asked for silence
    reopens_ms: int = 0  # until the breaker lets calls through
    broken_ms: int = 0  # until a broken account is tried again
    calls: int = 0  # of the breaker's last ten seconds
    errors: int = 0
    slow: int = 0


class ProcessStatus(Struct, frozen=True):
    """What one process published last."""

    member: str
    at_ms: int
    providers: tuple[ProviderStatus, ...]


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(ProcessStatus).decode


def status_of(line: Line, now_ms: float) -> ProviderStatus:
    """Return how one line stands; `now_ms` is monotonic."""
    lease, breaker = line.leases.last, line.breaker
    breaker.window.roll(now_ms)
    return ProviderStatus(
        line.provider.name,
        line.provider.channel,
        line.provider.account,
        breaker.state,
        line.in_flight,
        rate=round(lease.rate, 2) if lease else 0.0,
        good=round(lease.good, 2) if lease else 0.0,
        phase=Phase(lease.phase).name.lower() if lease else "",
        workers=lease.members if lease else 0,
        is_local=line.leases.alone,
        paused_ms=line.leases.paused_ms(),
        reopens_ms=round(breaker.refused_ms()),
        broken_ms=round(line.standing.refused_ms()),
        calls=breaker.window.calls,
        errors=breaker.window.errors,
        slow=breaker.window.slow,
    )


class StatusBoard:
    """The statuses of all processes in Valkey; each lapses when its process stops publishing."""

    def __init__(self, client: Redis, log: FilteringBoundLogger) -> None:
        self._client, self._once = client, Once(log)

    async def publish(self, member: str, at_ms: int, providers: Iterable[ProviderStatus]) -> None:
        """Replace what this process published before; a silent Valkey is logged once, never raised."""
        status = _encode(ProcessStatus(member, at_ms, tuple(providers)))
        try:
            async with self._client.pipeline(transaction=False) as commands:
                commands.set(f"{_INDEX}:{member}", status, px=_PUBLISHED_MS)
                commands.zadd(_INDEX, {member: at_ms})
                commands.zremrangebyscore(_INDEX, 0, at_ms - _PUBLISHED_MS)
                commands.pexpire(_INDEX, _PUBLISHED_MS)
                await commands.execute()
        except (RedisError, OSError) as error:
            self._once.warn("status", "status is not published", error=type(error).__name__)
        else:
            self._once.over("status", "status is published again")

    async def read(self) -> list[ProcessStatus]:
        """Return what every living process published last; raises what the client raises."""
        members = await self._client.zrange(_INDEX, 0, -1)
        if not members:
            return []
        names = [member.decode() if isinstance(member, bytes) else member for member in members]
        found = await self._client.mget([f"{_INDEX}:{name}" for name in names])
        return [_decode(status) for status in found if status is not None]
