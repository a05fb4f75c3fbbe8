"""How processes behave while things are wrong: what they log, how often they end, how much they burn."""

import time
from collections.abc import Mapping

import psutil

from harkara.embedded.pipeline import EmbeddedPipeline


class Vitals:
    """What happened to the processes of a pipeline since this was made."""

    def __init__(self, pipeline: EmbeddedPipeline) -> None:
        self._pipeline = pipeline
        self._sizes = {name: self._size(name) for name in pipeline.roles}
        self._restarts = {status.name: status.restarts for status in pipeline.status()}

    def lines(self) -> dict[str, list[str]]:
        """Return what each role logged meanwhile."""
        found: dict[str, list[str]] = {}
        for name in self._pipeline.roles:
            path = self._pipeline.log_path(name)
            if path.exists():
                with path.open("rb") as log:
                    log.seek(self._sizes.get(name, 0))
                    found[name] = log.read().decode(errors="replace").splitlines()
        return found

    def restarts(self) -> dict[str, int]:
        """Return how often each process was started again meanwhile; those that were not are left out."""
        told = {s.name: s.restarts - self._restarts.get(s.name, 0) for s in self._pipeline.status()}
        return {name: count for name, count in told.items() if count}

    def _size(self, name: str) -> int:
        path = self._pipeline.log_path(name)
        return path.stat().st_size if path.exists() else 0


def burnt(pipeline: EmbeddedPipeline, seconds: float) -> Mapping[str, float]:
    """Watch the roles for some seconds; returns the share of a core that each used."""
    before = _cpu_seconds(pipeline)
    begun = time.monotonic()
    time.sleep(seconds)
    after, took = _cpu_seconds(pipeline), time.monotonic() - begun
    return {
        name: (used - before[name, pid]) / took
        for (name, pid), used in after.items()
        if (name, pid) in before
    }


def _cpu_seconds(pipeline: EmbeddedPipeline) -> dict[tuple[str, int], float]:
    used: dict[tuple[str, int], float] = {}
    for status in pipeline.status():
        if status.pid is None:
            continue
        try:
            times = psutil.Process(status.pid).cpu_times()
        except psutil.NoSuchProcess:
            continue
        used[status.name, status.pid] = times.user + times.system
    return used
