"""Keeps programs running: restarts what exits, ends all when asked, and none outlives this process."""

import logging
import random
import subprocess
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from signal import SIGCONT, SIGKILL, SIGTERM, Signals

from connectors.embedded.spawn import send, spawn
from streams.clock import Clock

log = logging.getLogger(__name__)

_FIRST_DELAY_MS = 200
_LONGEST_DELAY_MS = 10_000
# A program that lived this long had started well: its next restart is quick again.
_SETTLED_MS = 30_000


@dataclass(frozen=True)
class Supervised:
    """A program that is to be running."""

    name: str
    argv: tuple[str, ...]  # argv[0] is an absolute path
    log_path: Path  # its output, appended; moved to `.1` at a start that finds it over 10 MB
    env: Mapping[str, str] | None = None  # the whole environment; None: this process's own
    stop_ms: int = 15_000  # from SIGTERM to SIGKILL
    keep_fds: tuple[int, ...] = ()  # open files that it inherits


@dataclass(frozen=True)
class Status:
    """How a supervised program is."""

    name: str
    pid: int | None  # None: not running now
    restarts: int  # since the supervisor started
    last_exit: int | None  # exit code; negative: the signal that ended it


class Supervisor:
    """Restarts an exited program after a jittered, exponentially growing delay (0.1 s to 10 s).

    Not for use from several threads at once. Programs end with this process, even if it is killed.
    """

    def __init__(self, children: Iterable[Supervised], clock: Clock, dice: random.Random) -> None:
        self._clock = clock
        self._dice = dice
        self._keepers: dict[str, _Keeper] = {}
        for child in children:
            self.add(child)

    def add(self, child: Supervised) -> None:
        """Take on one more program, under a new name; `start` starts it."""
        self._keepers[child.name] = _Keeper(child, self._clock, self._dice)

    def start(self, *names: str) -> None:
        """Start these programs (all when none is named); does not wait until they are ready."""
        for keeper in self._chosen(names):
            keeper.start()

    def stop(self, *names: str) -> None:
        """End these programs (all when none is named), in parallel; returns when they have ended."""
        keepers = self._chosen(names)
        for keeper in keepers:
            keeper.ask_to_stop()
        for keeper in keepers:
            keeper.finish()

    def kill(self, name: str, signal: Signals = SIGKILL) -> None:
        """Send a signal to a program as an accident would; one that ends is restarted."""
        self._keepers[name].signal(signal)

    def status(self) -> tuple[Status, ...]:
        """Return how each program is, in the order they were given."""
        return tuple(keeper.status() for keeper in self._keepers.values())

    def _chosen(self, names: tuple[str, ...]) -> list["_Keeper"]:
        return [self._keepers[name] for name in names or self._keepers]


class _Keeper:
    """Keeps one program running, in one thread.

    The thread that starts the program is the one that waits for it: Linux ties a program that ends
    with its parent to the *thread* that started it.
    """

    def __init__(self, child: Supervised, clock: Clock, dice: random.Random) -> None:
        self._child = child
        self._clock = clock
        self._dice = dice
        self._turn = threading.Lock()  # between a start of the program and a stop of its keeper
        self._stopping = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._thread: threading.Thread | None = None
        self._restarts = 0
        self._last_exit: int | None = None

    def start(self) -> None:
        if self._thread is None:
            self._stopping.clear()
            self._thread = threading.Thread(target=self._keep, name=f"keep-{self._child.name}", daemon=True)
            self._thread.start()

    def ask_to_stop(self) -> None:
        with self._turn:
            self._stopping.set()
            self.signal(SIGTERM)
            self.signal(SIGCONT)  # a paused program would not notice

    def finish(self) -> None:
        if self._thread is None:
            return
        self._thread.join(self._child.stop_ms / 1000)
        if self._thread.is_alive():
            log.warning("%s did not end in %d ms and is killed", self._child.name, self._child.stop_ms)
            self.signal(SIGKILL)
            self._thread.join()
        self._thread = None

    def signal(self, number: Signals) -> None:
        if self._process is not None:
            send(self._process, number)

    def status(self) -> Status:
        process = self._process
        pid = process.pid if process is not None and process.poll() is None else None
        return Status(self._child.name, pid, self._restarts, self._last_exit)

    def _keep(self) -> None:
        """Run the program again and again until asked to stop."""
        delay_ms, told = _FIRST_DELAY_MS, None
        while (process := self._begin()) is not None:
            begun_ms = self._clock.now_ms()
            self._last_exit = process.wait()
            if self._stopping.is_set():
                return
            if self._clock.now_ms() - begun_ms >= _SETTLED_MS:
                delay_ms, told = _FIRST_DELAY_MS, None
            wait_ms = self._dice.uniform(0.5, 1.0) * delay_ms
            if told != self._last_exit:  # the same end again and again is told once
                log.warning("%s ended with %s and is started again", self._child.name, self._last_exit)
                told = self._last_exit
            if self._stopping.wait(wait_ms / 1000):
                return
            delay_ms = min(delay_ms * 2, _LONGEST_DELAY_MS)
            self._restarts += 1

    def _begin(self) -> subprocess.Popen[bytes] | None:
        with self._turn:
            if self._stopping.is_set():
                return None
            child = self._child
            self._process = spawn(child.argv, child.log_path, child.env, child.keep_fds)
            return self._process
