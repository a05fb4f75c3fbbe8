"""What a process shows of itself on its own loopback port: /healthz, /readyz, /metrics."""

from collections.abc import Callable
from typing import Any

import msgspec
from aiohttp import web
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from streams.metrics import METRICS, Kind, Metric

_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_FACTORIES: dict[Kind, Any] = {Kind.COUNTER: Counter, Kind.GAUGE: Gauge, Kind.HISTOGRAM: Histogram}


class Telemetry:
    """All metrics of one process, made from the one list of them."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._instruments: dict[str, Any] = {}
        for metric in METRICS:
            more: dict[str, Any] = {"buckets": _BUCKETS} if metric.kind is Kind.HISTOGRAM else {}
            self._instruments[metric.name] = _FACTORIES[metric.kind](
                f"harkara_{metric.name}", metric.meaning, metric.labels, registry=self._registry, **more
            )

    def add(self, metric: Metric, amount: float = 1, *labels: str) -> None:
        """Count something."""
        self._labelled(metric, labels).inc(amount)

    def set(self, metric: Metric, value: float, *labels: str) -> None:
        """Set a gauge."""
        self._labelled(metric, labels).set(value)

    def observe(self, metric: Metric, value: float, *labels: str) -> None:
        """Note one value of a histogram."""
        self._labelled(metric, labels).observe(value)

    def _labelled(self, metric: Metric, labels: tuple[str, ...]) -> Any:
        instrument = self._instruments[metric.name]
        return instrument.labels(*labels) if labels else instrument

    def exposition(self) -> bytes:
        """Return all metrics in Prometheus' text format."""
        return generate_latest(self._registry)


class StatusServer:
    """Answers probes; `state` tells readiness and facts, and a provider's outage is none of them."""

    def __init__(self, telemetry: Telemetry, state: Callable[[], tuple[bool, dict[str, Any]]]) -> None:
        self._telemetry = telemetry
        self._state = state
        self._runner: web.AppRunner | None = None

    async def start(self, port: int) -> int:
        """Listen on loopback; port 0 picks a free one. Returns the port."""
        app = web.Application()
        app.router.add_get("/healthz", self._healthz)
        app.router.add_get("/readyz", self._readyz)
        app.router.add_get("/metrics", self._metrics)
        self._runner = web.AppRunner(app, access_log=None, handle_signals=False)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", port)
        await site.start()
        address: tuple[str, int] = self._runner.addresses[0]
        return address[1]

    async def stop(self) -> None:
        """Stop listening."""
        if self._runner is not None:
            await self._runner.cleanup()

    async def _healthz(self, _: web.Request) -> web.Response:
        return self._json(200, self._state()[1])

    async def _readyz(self, _: web.Request) -> web.Response:
        ready, facts = self._state()
        return self._json(200 if ready else 503, facts)

    async def _metrics(self, _: web.Request) -> web.Response:
        return web.Response(body=self._telemetry.exposition(), content_type="text/plain")

    @staticmethod
    def _json(status: int, facts: dict[str, Any]) -> web.Response:
        return web.Response(status=status, body=msgspec.json.encode(facts), content_type="application/json")
