"""The way to the providers, shared by all senders of a process."""

import asyncio
import os
import random
import secrets
from dataclasses import dataclass

import structlog
from redis.asyncio import Redis

from connectors.pacing.building import PacingSettings, build_route, valkey_client
from connectors.pacing.route import Route
from connectors.pacing.status import StatusBoard
from connectors.providers.registry import build
from connectors.telemetry import Telemetry
from harkara.provider_settings import providers
from harkara.settings import Settings, variable
from harkara.wall_clock import WallClock
from streams.clock import Clock
from streams.errors import SettingError
from streams.metrics import BREAKER_OPEN, IN_FLIGHT, RATE_LIMIT
from streams.policy.pace import Limits

log = structlog.get_logger(__name__)

_PUBLISH_S = 0.5


@dataclass
class Routes:
    """One route to every configured provider, and the board where its state can be read."""

    route: Route
    client: Redis
    board: StatusBoard
    member: str
    telemetry: Telemetry

    @staticmethod
    def of(settings: Settings, redis_url: str, clock: Clock, telemetry: Telemetry) -> "Routes":
        """Build the route; raises SettingError when no provider is configured."""
        own = providers(settings)
        if not own:
            raise SettingError(variable("fcm_service_account"), "configure at least one provider to send by")
        client = valkey_client(redis_url)
        member = f"{settings.instance or 'sender'}-{os.getpid()}-{secrets.token_hex(4)}"
        dice = random.Random()  # noqa: S311 - spreads pauses, guards nothing
        paces = {"fcm": settings.fcm_rate, "twilio": settings.twilio_rate}
        limits = {name: Limits(nominal=float(pace)) for name, pace in paces.items() if pace is not None}
        pacing = PacingSettings(limits=limits)
        route = build_route(build(own, own, WallClock()), client, member, clock, dice, log, pacing)
        return Routes(route, client, StatusBoard(client, log), member, telemetry)

    async def start(self) -> None:
        """Begin to take leases and to publish how things stand."""
        self.route.start()
        self._publishing = asyncio.get_running_loop().create_task(self._publish())

    async def stop(self) -> None:
        """Give leases and connections back."""
        self._publishing.cancel()
        await self.route.close()
        await self.client.aclose()

    async def _publish(self) -> None:
        while True:
            statuses = self.route.status()
            for status in statuses:
                self.telemetry.set(IN_FLIGHT, status.in_flight, status.provider)
                self.telemetry.set(BREAKER_OPEN, status.breaker != "closed", status.provider)
                self.telemetry.set(RATE_LIMIT, status.rate, status.provider)
            await self.board.publish(self.member, WallClock().now_ms(), statuses)
            await asyncio.sleep(_PUBLISH_S)
