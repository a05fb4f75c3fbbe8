"""Each role on one screen: what it reads, in which order, and what does the work."""

from collections.abc import Callable
from dataclasses import dataclass

from agents.poison import PoisonGuard
from agents.router import Router, RouterSettings
from agents.sender import Sender, SenderSettings
from agents.sender.attempt import Attempts
from agents.sender.bursts import Bursts
from agents.sink import Sink
from agents.sweeper import Sweeper
from connectors.clickhouse.writer import Writer
from connectors.embedded.addresses import Addresses
from connectors.kafka.app import AppSettings, BlockApp
from connectors.kafka.feed import Feed
from connectors.kafka.plan import ReadPlan
from connectors.kafka.producer import BlockProducer, ProducerSettings
from connectors.telemetry import Telemetry
from harkara.keys import hash_key
from harkara.routes import Routes
from harkara.settings import Settings
from harkara.wall_clock import WallClock
from harkara.worker import Role
from streams.catalog import Catalog
from streams.clock import ShiftedClock
from streams.policy.freshness import Freshness
from streams.records.codec import read_control
from streams.topics import (
    ACTIVE_CHANNELS,
    CLAIMS,
    CONTROLS,
    DELIVERIES,
    DELIVERY_EVENTS,
    FOLLOWUPS,
    INGEST,
    LANES,
    PREFERENCES,
    PROFILES,
    ROUTER_APP,
    SINK_APP,
    STOPS,
    STOPS_TABLE,
    USER_STATE,
    Channel,
    Lane,
    sender_app,
)
from tables.claims import Claims, outlived
from tables.stops import StopsTable

CLAIM_HOLD_MS = 2.0
SETTLE_HOLD_MS = 25.0
BURST = 500


@dataclass(frozen=True)
class Context:
    """What every role of a process shares."""

    settings: Settings
    addresses: Addresses
    catalog: Catalog
    telemetry: Telemetry
    clock: ShiftedClock

    @staticmethod
    def of(settings: Settings, addresses: Addresses, catalog: Catalog) -> "Context":
        return Context(settings, addresses, catalog, Telemetry(), ShiftedClock(WallClock()))

    def app(
        self, app_id: str, session_ms: int, plan: ReadPlan, tables: tuple[str, ...], *, static: bool
    ) -> BlockApp:
        """Make a Faust app with its own producer, which gives up before the session can end."""
        settings = self.settings
        producer = BlockProducer(
            ProducerSettings(self.addresses.kafka, app_id, message_timeout_ms=session_ms // 2 - 500)
        )
        return BlockApp(
            AppSettings(
                app_id,
                self.addresses.kafka,
                settings.folder / "state" / (settings.instance or "default") / app_id,
                settings.partitions,
                session_ms,
                settings.commit_interval_ms,
                f"{app_id}-{settings.instance}" if static and settings.instance else None,
            ),
            plan,
            tables,
            producer,
        )

    def controls(self) -> Feed:
        """Follow what operators set, and the demo's clock where that is allowed."""

        def apply(_: bytes, value: bytes | None) -> None:
            if value is not None and self.settings.clock_follow:
                self.clock.offset_ms = read_control(value).offset_ms

        return Feed(self.addresses.kafka, CONTROLS, apply)

    def facts(self) -> dict[str, int]:
        return {"clock_offset_ms": self.clock.offset_ms}


def router(context: Context) -> Role:
    """profiles, ingest and followups in; deliveries, stops, consent and events out."""
    settings = context.settings
    ranks = {PROFILES.full_name: 0}
    ranks |= {
        topic.full_name: rank for rank, lane in enumerate(LANES) for topic in (INGEST[lane], FOLLOWUPS[lane])
    }
    gated = [*INGEST.values(), *FOLLOWUPS.values()]
    plan = ReadPlan(
        ranks,
        {topic.full_name: PROFILES.full_name for topic in gated},
        frozenset(topic.full_name for topic in FOLLOWUPS.values()),
        settings.block_records,
    )
    app = context.app(ROUTER_APP, settings.router_session_ms, plan, (USER_STATE, PREFERENCES), static=True)
    freshness = Freshness(bulk_ms=settings.freshness_bulk_ms, other_ms=settings.freshness_other_ms)
    router_settings = RouterSettings(settings.partitions, freshness)
    body = Router(app.transport, context.catalog, context.clock, context.telemetry, router_settings)
    app.agent(PROFILES, name="router-profiles", body=body.profiles)
    for lane in LANES:
        app.agent(INGEST[lane], name=f"router-ingest-{lane}", body=body.ingest)
        app.agent(FOLLOWUPS[lane], name=f"router-followups-{lane}", body=body.followups)
    app.task(body.timers)
    app.task(body.sweeping)
    app.on_drop(body.forget)
    return Role("router", [app], context.telemetry, [context.controls()], context.facts)


def sender(
    context: Context, channels: tuple[Channel, ...] = ACTIVE_CHANNELS, lanes: tuple[Lane, ...] = LANES
) -> Role:
    """Deliveries and stops in; provider calls out; events and followups back."""
    routes = Routes.of(context.settings, context.addresses.redis, context.clock, context.telemetry)
    apps = [_sender_app(context, routes, channel, lane) for channel in channels for lane in lanes]
    return Role(
        "sender", apps, context.telemetry, [context.controls()], context.facts, [routes.start], [routes.stop]
    )


def _sender_app(context: Context, routes: Routes, channel: Channel, lane: Lane) -> BlockApp:
    settings = context.settings
    critical = lane is Lane.CRITICAL
    topic = DELIVERIES[channel, lane]
    plan = ReadPlan(
        {STOPS.full_name: 0, topic.full_name: 0},
        {topic.full_name: STOPS.full_name},
        frozenset({STOPS.full_name, topic.full_name}),
        block_records=min(settings.block_records, 200),
        blocks_in_flight=3,
    )
    session_ms = settings.critical_sender_session_ms if critical else settings.sender_session_ms
    app = context.app(sender_app(channel, lane), session_ms, plan, (CLAIMS, STOPS_TABLE), static=not critical)
    stops = StopsTable(app.transport.view)
    attempts = Attempts(
        app.transport,
        routes.route,
        context.catalog,
        context.clock,
        Claims(app.transport.view),
        stops,
        Bursts(app.transport, CLAIM_HOLD_MS, BURST),
        Bursts(app.transport, SETTLE_HOLD_MS, BURST),
        context.telemetry,
        PoisonGuard(),
    )
    body = Sender(app.transport, attempts, stops, context.clock, SenderSettings(settings.sender_inflight))
    app.agent(topic, name=f"sender-{channel}-{lane}", body=body.deliveries)
    app.agent(STOPS, name=f"sender-{channel}-{lane}-stops", body=body.stops)
    app.task(Sweeper(app.transport, context.clock, CLAIMS, b"", b"\xff", outlived).run)
    app.on_revoke(body.abandon)
    return app


def sink(context: Context) -> Role:
    """delivery-events in; rows in ClickHouse."""
    settings = context.settings
    plan = ReadPlan(
        {DELIVERY_EVENTS.full_name: 0}, gapless=frozenset({DELIVERY_EVENTS.full_name}),
        block_records=2_000, blocks_in_flight=12,
    )  # fmt: skip
    app = context.app(SINK_APP, settings.sink_session_ms, plan, (), static=True)
    writer = Writer.of(context.addresses.clickhouse, hash_key(settings))
    body = Sink(app.transport, writer, context.clock, telemetry=context.telemetry)
    app.agent(DELIVERY_EVENTS, name="sink", body=body.events)
    app.task(body.flushing)
    return Role("sink", [app], context.telemetry, [context.controls()], context.facts)


ROLES: dict[str, Callable[..., Role]] = {"router": router, "sender": sender, "sink": sink}
