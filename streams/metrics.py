"""Every metric's name, kind, labels and meaning, declared once."""

from enum import StrEnum

from msgspec import Struct


class Kind(StrEnum):
    """How Prometheus treats a metric."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


class Metric(Struct, frozen=True):
    """A metric as data: `harkara_` is put before the name by the exporter."""

    name: str
    kind: Kind
    meaning: str
    labels: tuple[str, ...] = ()


EVENTS_CONSUMED = Metric("events_consumed_total", Kind.COUNTER, "Records read.", ("topic",))
DECISIONS = Metric(
    "decisions_total", Kind.COUNTER, "Decisions of the router.", ("lane", "decision", "reason")
)
REKEYED = Metric(
    "partition_mismatch_total", Kind.COUNTER, "Records found on a partition not their own.", ("client",)
)
SET_ASIDE = Metric("set_aside_total", Kind.COUNTER, "Records refused or put to dead letters.", ("reason",))
ATTEMPTS = Metric("attempts_total", Kind.COUNTER, "Provider calls.", ("provider", "channel", "outcome"))
ATTEMPT_SECONDS = Metric(
    "attempt_duration_seconds", Kind.HISTOGRAM, "Time of a provider call.", ("provider",)
)
IN_FLIGHT = Metric("in_flight", Kind.GAUGE, "Provider calls under way.", ("provider",))
BREAKER_OPEN = Metric("breaker_open", Kind.GAUGE, "1 while the breaker refuses calls.", ("provider",))
RATE_LIMIT = Metric("rate_limit_per_second", Kind.GAUGE, "The pace AIMD allows at present.", ("provider",))
SINK_ROWS = Metric("sink_rows_total", Kind.COUNTER, "Rows written to analytics.", ())
SINK_REFUSED = Metric(
    "sink_rows_refused_total", Kind.COUNTER, "Rows analytics refused, now dead letters.", ()
)

METRICS: tuple[Metric, ...] = (
    EVENTS_CONSUMED,
    DECISIONS,
    REKEYED,
    SET_ASIDE,
    ATTEMPTS,
    ATTEMPT_SECONDS,
    IN_FLIGHT,
    BREAKER_OPEN,
    RATE_LIMIT,
    SINK_ROWS,
    SINK_REFUSED,
)
