"""The embedded stack: Kafka, Valkey and ClickHouse started together, stopped together, in one folder."""

import random
import time
from dataclasses import replace
from pathlib import Path
from signal import SIGKILL, Signals
from typing import Protocol

from connectors.embedded.addresses import Addresses
from connectors.embedded.cache import default_cache
from connectors.embedded.clickhouse import ClickHouse
from connectors.embedded.errors import PartFailed
from connectors.embedded.folder import Lock
from connectors.embedded.kafka import Kafka
from connectors.embedded.ports import free_ports
from connectors.embedded.progress import Reporter, Silent
from connectors.embedded.supervisor import Status, Supervised, Supervisor
from connectors.embedded.valkey import Valkey

_POLL_SECONDS = 0.02
_PATIENCE_SECONDS = 90.0


class Part(Protocol):
    """One server of the stack."""

    @property
    def name(self) -> str:
        """What it is called in logs and by `Stack.kill`."""
        ...

    @property
    def address(self) -> str:
        """Where clients find it, once it is prepared."""
        ...

    def prepare(self) -> None:
        """Make everything ready for a start."""
        ...

    def program(self) -> Supervised:
        """What is to be running."""
        ...

    def answers(self) -> bool:
        """Ask it once whether it is there."""
        ...


class Stack:
    """Runs the parts for which no address is given; they keep their data in `folder` over restarts.

    Loopback only. A part that ends by accident is started again on the same port. The parts end with
    the process that started them, whatever ended it. Call it from one thread; also a context manager.
    """

    def __init__(
        self,
        folder: Path,
        *,
        kafka: str | None = None,
        redis: str | None = None,
        clickhouse: str | None = None,
        cache: Path | None = None,
        progress: Reporter | None = None,
    ) -> None:
        """Describe a stack; nothing happens before `start`.

        `kafka` is host:port, `redis` and `clickhouse` are URLs: of servers to use in place of a part.
        `cache` holds what all stacks share, by default this user's cache folder.
        """
        self._folder = folder.absolute()
        self._given = {"kafka": kafka, "valkey": redis, "clickhouse": clickhouse}
        self._cache = (cache or default_cache()).absolute()
        self._progress = progress or Silent()
        self._dice = random.SystemRandom()
        self._supervisor = Supervisor((), _WallClock(), self._dice)
        self._parts: dict[str, Part] = {}
        self._lock: Lock | None = None
        self._addresses: Addresses | None = None

    @property
    def addresses(self) -> Addresses:
        """Where the servers listen. Raises RuntimeError while the stack does not run."""
        if self._addresses is None:
            raise RuntimeError("the stack does not run")
        return self._addresses

    @property
    def held(self) -> tuple[int, ...]:
        """Open files that hold the folder: programs beside the stack inherit them (`keep_fds`)."""
        return () if self._lock is None else (self._lock.fd,)

    def start(self) -> Addresses:
        """Start the parts, wait until each answers, write their addresses into the folder.

        Raises FolderHeld, PartFailed or DownloadFailed; then nothing is left running.
        """
        self._lock = Lock.take(self._folder)
        try:
            ports = free_ports(4, self._dice)
            # Kafka last: the others start while its files are fetched or made, the first time.
            for part in (
                Valkey(self._folder / "valkey", ports[0]),
                ClickHouse(self._folder / "clickhouse", ports[1]),
                Kafka(self._folder / "kafka", self._cache, ports[2], ports[3], self._dice, self._progress),
            ):
                if self._given[part.name] is None:
                    self._begin(part, self._lock)
            for started in self._parts.values():
                self._wait_for(started, may_end=False)
            self._addresses = Addresses(
                kafka=self._address("kafka"),
                redis=self._address("valkey"),
                clickhouse=self._address("clickhouse"),
            )
            self._addresses.write(self._folder)
        except BaseException:
            self.stop()
            raise
        return self._addresses

    def stop(self) -> None:
        """End the parts, in parallel, and give the folder back; calling it again changes nothing."""
        if self._lock is None:
            return
        self._addresses = None
        Addresses.forget(self._folder)
        self._supervisor.stop()
        self._lock.release()
        self._lock = None

    def kill(self, name: str, signal: Signals = SIGKILL) -> None:
        """Signal a part (kafka, valkey, clickhouse) as an accident would; if it ends it starts again."""
        self._supervisor.kill(name, signal)

    def halt(self, name: str) -> None:
        """End a part cleanly and keep it down until `resume`; its address stays its own."""
        self._supervisor.stop(name)

    def resume(self, name: str) -> None:
        """Start a halted part on its old port; `wait` waits until it answers."""
        self._supervisor.start(name)

    def wait(self, *names: str) -> None:
        """Wait until these parts answer (all when none is named). Raises PartFailed after 90 s."""
        for name in names or self._parts:
            self._wait_for(self._parts[name], may_end=True)

    def status(self) -> tuple[Status, ...]:
        """Return how each started part is."""
        return self._supervisor.status()

    def __enter__(self) -> "Stack":
        self.start()
        return self

    def __exit__(self, *_failure: object) -> None:
        self.stop()

    def _begin(self, part: Part, lock: Lock) -> None:
        part.prepare()
        self._parts[part.name] = part
        self._supervisor.add(replace(part.program(), keep_fds=(lock.fd,)))
        self._supervisor.start(part.name)

    def _wait_for(self, part: Part, may_end: bool) -> None:
        start = time.monotonic()
        while not part.answers():
            (status,) = (status for status in self.status() if status.name == part.name)
            if status.last_exit is not None and not may_end:
                raise PartFailed(part.name, f"ended with {status.last_exit}", part.program().log_path)
            if time.monotonic() - start > _PATIENCE_SECONDS:
                told = f"does not answer after {_PATIENCE_SECONDS:.0f} s"
                raise PartFailed(part.name, told, part.program().log_path)
            time.sleep(_POLL_SECONDS)

    def _address(self, name: str) -> str:
        return self._given[name] or self._parts[name].address


class _WallClock:
    """The time of this machine."""

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000
