import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from signal import SIGKILL, SIGTERM

import psutil
import pytest

from connectors.embedded.spawn import send, spawn
from connectors.embedded.supervisor import Supervised, Supervisor
from streams.clock import FixedClock

STAYS = "import signal; signal.pause()"
STUBBORN = (
    "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(1, flush=True); signal.pause()"
)


def child(tmp_path: Path, code: str, name: str = "child", stop_ms: int = 15_000) -> Supervised:
    return Supervised(name, (sys.executable, "-SEc", code), tmp_path / f"{name}.log", stop_ms=stop_ms)


def supervisor(*children: Supervised) -> Supervisor:
    return Supervisor(children, FixedClock(0), random.Random(1))


def eventually(holds: Callable[[], bool]) -> None:
    """Wait until it holds; the test's own timeout ends a wait for ever."""
    while not holds():
        time.sleep(0.01)


def test_an_exited_program_is_started_again(tmp_path: Path) -> None:
    """A role that fences itself, exiting on purpose, comes back; its exits are counted."""
    kept = supervisor(child(tmp_path, "raise SystemExit(3)"))
    kept.start()
    eventually(lambda: kept.status()[0].restarts >= 2)
    assert kept.status()[0].last_exit == 3
    kept.stop()
    assert kept.status()[0].pid is None


def test_a_killed_program_is_started_again(tmp_path: Path) -> None:
    """A SIGKILL is an accident like another."""
    kept = supervisor(child(tmp_path, STAYS))
    kept.start()
    eventually(lambda: kept.status()[0].pid is not None)
    first = kept.status()[0].pid
    kept.kill("child")
    eventually(lambda: kept.status()[0].pid not in (None, first))
    kept.stop()
    assert kept.status()[0].restarts == 1


def test_a_program_that_ignores_sigterm_is_killed(tmp_path: Path) -> None:
    """Stopping takes no longer than its bound, however stubborn the program."""
    kept = supervisor(child(tmp_path, STUBBORN, stop_ms=50))
    kept.start()
    eventually(lambda: (tmp_path / "child.log").exists() and (tmp_path / "child.log").stat().st_size > 0)
    kept.stop()
    assert kept.status()[0].last_exit == -SIGKILL


def test_one_program_is_stopped_and_started_alone(tmp_path: Path) -> None:
    """The others are not touched."""
    kept = supervisor(child(tmp_path, STAYS, "one"), child(tmp_path, STAYS, "two"))
    kept.start()
    eventually(lambda: all(status.pid is not None for status in kept.status()))
    other = kept.status()[1].pid
    kept.stop("one")
    assert [status.pid for status in kept.status()] == [None, other]
    kept.start("one")
    eventually(lambda: kept.status()[0].pid is not None)
    kept.stop()


def test_a_stop_while_waiting_to_restart_starts_nothing(tmp_path: Path) -> None:
    """Between two runs of a program, stop simply ends the waiting."""
    kept = supervisor(child(tmp_path, "raise SystemExit(1)"))
    kept.start()
    eventually(lambda: kept.status()[0].last_exit == 1)
    kept.stop()
    assert kept.status()[0].pid is None


@pytest.mark.parametrize("mode", ["exec", "watch"])
def test_a_program_does_not_outlive_a_killed_parent(tmp_path: Path, mode: str) -> None:
    """Whatever ends the parent ends the program, by the kernel or by the pipe to its watcher."""
    parent = f"""
import sys, signal, time
from pathlib import Path
from connectors.embedded.spawn import spawn
log = Path({str(tmp_path)!r}) / "log"
spawn([sys.executable, "-SEuc", "import os, signal; print(os.getpid()); signal.pause()"], log, mode={mode!r})
while not log.read_text().endswith("\\n"):
    time.sleep(0.01)
print(log.read_text(), flush=True)
signal.pause()
"""
    command = [sys.executable, "-c", parent]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=Path(__file__).parents[3]) as process:
        assert process.stdout is not None
        program = psutil.Process(int(process.stdout.readline()))
        process.kill()
        process.wait()
        _, alive = psutil.wait_procs([program], timeout=30)
    assert alive == []


@pytest.mark.parametrize("mode", ["exec", "watch"])
def test_a_program_ends_as_it_was_ended(tmp_path: Path, mode: str) -> None:
    """Signals reach the program, and its exit code comes back, whichever way it is run."""
    shouting = (
        "import signal, sys; signal.signal(15, lambda *a: sys.exit(7)); print(1, flush=True); signal.pause()"
    )
    log = tmp_path / "log"
    process = spawn([sys.executable, "-SEc", shouting], log, mode=mode)
    eventually(lambda: log.stat().st_size > 0)
    send(process, SIGTERM)
    assert process.wait() == 7
    if process.stdin is not None:
        process.stdin.close()


def test_a_large_log_is_moved_aside_at_the_next_start(tmp_path: Path) -> None:
    """A program that talks much fills at most two files."""
    log = tmp_path / "log"
    log.touch()
    os.truncate(log, 11_000_000)
    spawn(["/bin/echo", "hello"], log).wait()
    assert log.read_text() == "hello\n"
    assert log.with_name("log.1").stat().st_size == 11_000_000
