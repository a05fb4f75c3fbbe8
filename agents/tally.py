"""Counts of one block, told to the metrics together: a metric a record would cost more than the record."""

from collections import Counter

from connectors.telemetry import Telemetry
from streams.metrics import Metric


class Tally:
    """Collects counts until `flush`."""

    def __init__(self, telemetry: Telemetry) -> None:
        self._telemetry = telemetry
        self._counts: Counter[tuple[Metric, tuple[str, ...]]] = Counter()

    def add(self, metric: Metric, *labels: str, amount: int = 1) -> None:
        """Count something, to be told later."""
        self._counts[metric, labels] += amount

    def flush(self) -> None:
        """Tell the metrics what was counted."""
        for (metric, labels), amount in self._counts.items():
            self._telemetry.add(metric, amount, *labels)
        self._counts.clear()
