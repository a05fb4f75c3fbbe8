"""The embedded pipeline: stack, simulated providers and roles, started and ended as one."""

import random
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from signal import SIGCONT, SIGKILL, SIGSTOP, Signals

import msgspec

from connectors.clickhouse.client import connect
from connectors.clickhouse.schema import Schema
from connectors.embedded.addresses import Addresses
from connectors.embedded.errors import PartFailed
from connectors.embedded.ports import free_ports
from connectors.embedded.progress import Reporter
from connectors.embedded.stack import Stack
from connectors.embedded.supervisor import Status, Supervised, Supervisor
from connectors.kafka import admin
from connectors.simulator.client import SimulatorClient
from connectors.simulator.script import Script
from harkara.embedded import probe
from harkara.embedded.role_process import HARKARA, RoleProcess, log_of
from harkara.embedded.simulated import SimulatedProviders
from harkara.settings import Settings
from harkara.wall_clock import WallClock

#: What runs: process name -> role. Each owns all partitions of its topics.
PROCESSES = {"router": "router", "sender": "sender", "sink": "sink"}
_ROLES_FILE = "roles.json"
# Few cores: more calls at once would not be faster, and a password would wait behind their turns.
_INFLIGHT = 48
_POLL_S = 0.05
_PATIENCE_S = 90.0
_MOST_RESTARTS = 3  # of a role that is waited for


class EmbeddedPipeline:
    """Everything between a producer and a phone, on loopback, in one folder.

    Processes that end are started again; all end with the process that started them. Its roles
    follow the clock record on `controls`. Call it from one thread; also a context manager.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        script: Script | None = None,
        reporter: Reporter | None = None,
        processes: dict[str, str] | None = None,
    ) -> None:
        """Describe a pipeline; nothing happens before `start`.

        `script` is what the simulated providers do at first. A provider that the settings
        configure is called for real, and no simulator stands for it.
        """
        self._settings = replace(
            settings,
            folder=settings.folder.absolute(),
            sender_inflight=min(settings.sender_inflight, _INFLIGHT),
        )
        self._folder = self._settings.folder
        self._script = script or Script()
        self._wanted = PROCESSES if processes is None else processes
        self._dice = random.SystemRandom()
        self._stack = Stack(
            self._folder,
            kafka=settings.kafka,
            redis=settings.redis,
            clickhouse=settings.clickhouse,
            cache=settings.cache,
            progress=reporter,
        )
        self._supervisor = Supervisor((), WallClock(), self._dice)
        self._simulated: SimulatedProviders | None = None
        self._roles: dict[str, RoleProcess] = {}

    @property
    def stack(self) -> Stack:
        """The servers underneath: to kill, halt and resume them."""
        return self._stack

    @property
    def addresses(self) -> Addresses:
        """Where the servers and the simulator listen. Raises RuntimeError while it does not run."""
        address = self._simulated.address if self._simulated is not None else None
        return replace(self._stack.addresses, simulator=address)

    def start(self) -> Addresses:
        """Start everything and wait until each role is ready; returns the addresses.

        Raises FolderHeld, PartFailed or DownloadFailed; then nothing is left running.
        """
        try:
            self._stack.start()
            ports = iter(free_ports(3 + len(self._wanted), self._dice))
            self._simulated = SimulatedProviders(self._folder, next(ports), next(ports), next(ports))
            self._simulated.prepare(self._script)
            self._begin(self._simulated.program(self._settings, self._stack.held))
            self.addresses.write(self._folder)
            self._prepare_servers()
            for name, role in self._wanted.items():
                self._add(RoleProcess(name, role, next(ports)))
            self._write_roles()
            self.wait()
        except BaseException:
            self.stop()
            raise
        return self.addresses

    def stop(self) -> None:
        """Drain the roles, then end everything; calling it again changes nothing."""
        self._supervisor.stop(*self._roles)
        self._supervisor.stop()
        self._supervisor = Supervisor((), WallClock(), self._dice)
        self._roles.clear()
        self._simulated = None
        (self._folder / _ROLES_FILE).unlink(missing_ok=True)
        self._stack.stop()

    def join(self, name: str, role: str, *arguments: str, command: tuple[str, ...] = HARKARA) -> None:
        """Start one more member of a role, which takes over some of its partitions."""
        self._add(RoleProcess(name, role, free_ports(1, self._dice)[0], name, arguments, command))
        self._write_roles()

    def halt(self, name: str) -> None:
        """End a process cleanly and keep it down until `resume`."""
        self._supervisor.stop(name)

    def resume(self, name: str) -> None:
        """Start a halted process; `wait` waits until it is ready."""
        self._supervisor.start(name)

    def kill(self, name: str, signal: Signals = SIGKILL) -> None:
        """Signal a process as an accident would; one that ends is started again."""
        self._supervisor.kill(name, signal)

    def pause(self, name: str) -> None:
        """Stop a process in mid-step, as a suspended machine would."""
        self._supervisor.kill(name, SIGSTOP)

    def unpause(self, name: str) -> None:
        """Let a paused process go on."""
        self._supervisor.kill(name, SIGCONT)

    def wait(self, *names: str) -> None:
        """Wait until these roles are ready (all when none is named). Raises PartFailed after 90 s."""
        start = time.monotonic()
        before = {status.name: status.restarts for status in self.status()}
        if self._simulated is not None:
            while not self._simulated.answers():
                self._mind(self._simulated.name, start, before)
        for name in names or tuple(self._roles):
            while not self._roles[name].ready:
                self._mind(name, start, before)

    def status(self) -> tuple[Status, ...]:
        """Return how each process is: the simulator, then the roles."""
        return self._supervisor.status()

    def facts(self, name: str) -> dict[str, object] | None:
        """Return what a role says of itself at /healthz, or None when it does not answer."""
        return probe.facts(self._roles[name].port)

    def metrics(self, name: str) -> bytes:
        """Return a role's /metrics, empty when it does not answer."""
        answer = probe.ask(self._roles[name].port, "/metrics")
        return b"" if answer is None else answer[1]

    @property
    def partitions(self) -> int:
        """How many partitions the topics keyed by user have."""
        return self._settings.partitions

    @property
    def roles(self) -> tuple[str, ...]:
        """The names of the roles' processes."""
        return tuple(self._roles)

    def log_path(self, name: str) -> Path:
        """Return where a process's output goes."""
        return log_of(self._folder, name)

    def simulator(self) -> SimulatorClient:
        """Return a client for the simulator's control calls; use it inside `async with`."""
        if self._simulated is None:
            raise RuntimeError("the pipeline does not run")
        return self._simulated.client()

    def __enter__(self) -> "EmbeddedPipeline":
        self.start()
        return self

    def __exit__(self, *_failure: object) -> None:
        self.stop()

    def _prepare_servers(self) -> None:
        """Make topics and schema, side by side."""
        addresses, settings = self.addresses, self._settings
        wanted = admin.wanted_topics(settings.partitions, lean=settings.kafka is None)
        with ThreadPoolExecutor(2) as threads:
            topics = threads.submit(admin.apply, addresses.kafka, wanted, settings.replication)
            schema = threads.submit(lambda: Schema(connect(addresses.clickhouse)).apply())
            topics.result()
            schema.result()

    def _begin(self, program: Supervised) -> None:
        self._supervisor.add(program)
        self._supervisor.start(program.name)

    def _add(self, process: RoleProcess) -> None:
        self._roles[process.name] = process
        more = self._simulated.environ(self._settings) if self._simulated is not None else {}
        self._begin(process.program(self._settings, more, self._stack.held))

    def _write_roles(self) -> None:
        pages = {name: f"http://127.0.0.1:{process.port}" for name, process in self._roles.items()}
        (self._folder / _ROLES_FILE).write_bytes(msgspec.json.format(msgspec.json.encode(pages)))

    def _mind(self, name: str, start: float, before: Mapping[str, int]) -> None:
        """Wait a moment for a process; raises PartFailed when waiting is no use."""
        (status,) = (status for status in self.status() if status.name == name)
        if status.restarts - before[name] >= _MOST_RESTARTS and status.pid is None:
            raise PartFailed(name, f"ends with {status.last_exit} again and again", self.log_path(name))
        if time.monotonic() - start > _PATIENCE_S:
            raise PartFailed(name, f"is not ready after {_PATIENCE_S:.0f} s", self.log_path(name))
        time.sleep(_POLL_S)
