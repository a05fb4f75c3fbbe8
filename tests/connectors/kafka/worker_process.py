"""One counting app as a process: what it says of itself, and how it is ended."""

import http.client
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from signal import SIGKILL, SIGTERM, Signals
from subprocess import Popen
from typing import Any

import psutil

from connectors.embedded.spawn import send
from tests.connectors.kafka.counting_app import Counting

PATIENCE_S = 60.0


def until(what: str, condition: Callable[[], Any], patience_s: float = PATIENCE_S) -> Any:
    """Wait for something to become true and return it; fails by name."""
    end = time.monotonic() + patience_s
    while not (found := condition()):
        assert time.monotonic() < end, f"waited {patience_s:.0f} s in vain until {what}"
        time.sleep(0.02)
    return found


@dataclass
class Worker:
    """One process of the counting role."""

    settings: Counting
    process: Popen[bytes]
    log: Path
    ending: bool = False  # it may end: we asked for it

    def facts(self) -> dict[str, Any]:
        """What it says of itself; empty while it does not listen."""
        connection = http.client.HTTPConnection("127.0.0.1", self.settings.status_port, timeout=5)
        try:
            connection.request("GET", "/healthz")
            found: dict[str, Any] = json.loads(connection.getresponse().read())
        except OSError:
            return {}
        finally:
            connection.close()
        return found

    @property
    def partitions(self) -> list[int]:
        """What it reads at present."""
        apps = self.facts().get("apps", {})
        return list(apps[self.settings.app]["partitions"]) if apps else []

    def wait_ready(self) -> "Worker":
        """Wait until it reads its partitions; fails if it ends first."""

        def ready() -> bool:
            assert self.process.poll() is None, self.said
            return bool(self.facts().get("ready"))

        until("the worker is ready", ready)
        return self

    def wait_exit(self) -> int:
        """Wait until it has ended and return its exit code."""
        self.ending = True
        return self.process.wait(PATIENCE_S)

    def signal(self, number: Signals) -> None:
        """Send it a signal."""
        send(self.process, number)

    def kill(self) -> None:
        """End it as a power cut would."""
        self.ending = True
        send(self.process, SIGKILL)
        self.process.wait(PATIENCE_S)

    def stop(self) -> int:
        """End it cleanly; returns its exit code."""
        send(self.process, SIGTERM)
        return self.wait_exit()

    @property
    def said(self) -> str:
        """Everything it wrote to its outputs."""
        return self.log.read_text(errors="replace")


def cpu_seconds(worker: Worker) -> float:
    """Return the processor time a worker has used."""
    times = psutil.Process(worker.process.pid).cpu_times()
    return float(times.user + times.system)


def wall_seconds(worker: Worker) -> float:
    """Return how long ago a worker was started."""
    return time.time() - psutil.Process(worker.process.pid).create_time()
