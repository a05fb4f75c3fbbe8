"""Runs a program that ends when its parent ends, whatever ended the parent.

Run as `python -I -S leash.py MODE PARENT PROGRAM ARGUMENTS...`, where PARENT is the pid of who runs it:

- `exec`: become the program, with the kernel's promise of a SIGTERM when the parent dies (Linux only).
- `watch`: stay beside the program and end it when standard input, a pipe from the parent, closes.

Standard library only, and little of it: this runs before every program of the stack.
"""

import os
import signal
import sys
from types import FrameType

_PR_SET_PDEATHSIG = 1
_KILL_AFTER_SECONDS = 15.0


def become(parent: int, argv: list[str]) -> None:
    """Turn this process into the program, or end it if the parent is already gone."""
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")
    if os.getppid() == parent:  # asked after prctl, so that no death of the parent is missed
        os.execv(argv[0], argv)  # noqa: S606 - a list of arguments from our own code


def watch(argv: list[str]) -> int:
    """Run the program until it ends or the parent does; return its exit code, negative for a signal."""
    import subprocess
    import threading

    early: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda caught, _frame: early.append(caught))
    program = subprocess.Popen(argv, stdin=subprocess.DEVNULL, close_fds=False)

    def forward(number: int, _frame: FrameType | None) -> None:
        program.send_signal(number)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, forward)
    for caught in early:
        program.send_signal(caught)

    def end_with_parent() -> None:
        while os.read(0, 1):
            pass
        program.terminate()
        try:
            program.wait(_KILL_AFTER_SECONDS)
        except subprocess.TimeoutExpired:
            program.kill()

    threading.Thread(target=end_with_parent, daemon=True).start()
    return program.wait()


def main(mode: str, parent: str, *argv: str) -> None:
    """Run the program in the given mode and end as it ended."""
    if mode == "exec":
        become(int(parent), list(argv))
        return
    code = watch(list(argv))
    if code < 0:
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    sys.exit(code)


if __name__ == "__main__":
    main(*sys.argv[1:])
