"""Starts programs that end with this process and are untouched by the terminal's Ctrl-C."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from signal import Signals

_LEASH = str(Path(__file__).with_name("leash.py"))
_LARGEST_LOG_BYTES = 10_000_000


def spawn(
    argv: Sequence[str],
    log_path: Path,
    env: Mapping[str, str] | None = None,
    keep_fds: Sequence[int] = (),
    mode: str = "exec" if sys.platform == "linux" else "watch",
) -> subprocess.Popen[bytes]:
    """Start a program, its output appended to `log_path`.

    On Linux it gets SIGTERM when the calling *thread* ends: call from one that stays.
    """
    leashed = [sys.executable, "-I", "-S", _LEASH, mode, str(os.getpid()), *argv]
    log_path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if log_path.exists() and log_path.stat().st_size > _LARGEST_LOG_BYTES:
        log_path.replace(log_path.with_name(f"{log_path.name}.1"))
    with log_path.open("ab") as output:
        return subprocess.Popen(
            leashed,
            # In `watch` mode the pipe's end, which is held by nobody else, is how our death is seen.
            stdin=subprocess.PIPE if mode == "watch" else subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=env,
            pass_fds=keep_fds,
            start_new_session=True,  # Ctrl-C is for us: we then end the programs in order
        )


def send(process: subprocess.Popen[bytes], number: Signals) -> None:
    """Signal the program and, for SIGKILL and SIGSTOP, whatever it started; ended ones are left alone."""
    if process.poll() is not None:
        return
    if number in (Signals.SIGKILL, Signals.SIGSTOP, Signals.SIGCONT):
        os.killpg(process.pid, number)
    else:
        process.send_signal(number)
