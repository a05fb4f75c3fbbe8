"""Puts a route together from providers and one Valkey client."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from structlog.typing import FilteringBoundLogger

from connectors.pacing.breaker import Breaker, BreakerSettings
from connectors.pacing.lease_settings import LeaseSettings
from connectors.pacing.leases import Leases
from connectors.pacing.route import Route
from connectors.pacing.shared_quota import SharedQuota
from connectors.providers.provider import Provider
from streams.clock import Clock
from streams.policy.pace import Limits
from streams.policy.quota import Sharing


@dataclass(frozen=True)
class PacingSettings:
    """How all providers are paced; `limits` names what is known of a provider's quota."""

    limits: Mapping[str, Limits] = field(default_factory=dict)  # by provider; others start slowly
    sharing: Sharing = field(default_factory=Sharing)
    leases: LeaseSettings = field(default_factory=LeaseSettings)
    breaker: BreakerSettings = field(default_factory=BreakerSettings)
    region: str = "default"  # quotas and their sharing end at a region's border


def valkey_client(url: str) -> Redis:
    """Return a client that fits the leases: it never repeats or waits by itself, they do.

    Without a socket timeout it makes no task a command; every wait of ours has its own end.
    """
    return Redis.from_url(url, socket_timeout=None, socket_connect_timeout=1, retry=Retry(NoBackoff(), 0))


def build_route(
    providers: Mapping[str, Provider],
    client: Redis,
    member: str,
    clock: Clock,
    dice: random.Random,
    log: FilteringBoundLogger,
    settings: PacingSettings,
) -> Route:
    """Return a route that is not started yet; `member` is unique among all processes at all times."""
    leases: dict[str, Leases] = {}
    breakers: dict[str, Breaker] = {}
    for name, provider in providers.items():
        quota = f"{provider.name}/{provider.account}/{settings.region}"
        limits = settings.limits.get(name, Limits())
        shared = SharedQuota(client, quota, limits, settings.sharing)
        leases[name] = Leases(shared, member, dice, log, settings.leases)
        breakers[name] = Breaker(quota, dice, settings.breaker)
    return Route(providers, leases, breakers, clock, log)
