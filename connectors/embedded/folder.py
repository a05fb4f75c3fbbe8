"""The lock of a data folder: one stack at a time, and stale locks are nobody's.

The lock is a kernel lock (flock) on an open file, so it cannot outlive its holders. The programs
that the holder starts inherit it (`Lock.fd`): it is free only when the last of them has ended, and
a stack that is started right after a killed one waits until the old programs left their files.
"""

import fcntl
import os
import time
from pathlib import Path

import psutil

from connectors.embedded.errors import FolderHeld

_FILE = "lock"
_POLL_SECONDS = 0.05
# A holder takes the lock and then writes its pid; a reader of the file may be that much too early.
_SETTLE_SECONDS = 0.5
# What a killed stack started gets SIGTERM at once; Kafka flushes for a few seconds at most.
_LEAVE_SECONDS = 30.0


class Lock:
    """Holds a folder until `release`, or until this process and all that inherited it have ended."""

    def __init__(self, folder: Path, fd: int) -> None:
        self._folder = folder
        self.fd = fd

    @staticmethod
    def take(folder: Path) -> "Lock":
        """Lock `folder` (made if missing). Raises FolderHeld with the pid when it is in use."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        fd = os.open(folder / _FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        start = time.monotonic()
        while not _try(fd):
            waited = time.monotonic() - start
            holder = _holder(folder)
            lives = psutil.pid_exists(holder)
            if waited > (_SETTLE_SECONDS if lives else _LEAVE_SECONDS):
                os.close(fd)
                raise FolderHeld(folder, holder, lives)
            time.sleep(_POLL_SECONDS)
        os.ftruncate(fd, 0)
        os.pwrite(fd, str(os.getpid()).encode(), 0)
        return Lock(folder, fd)

    def release(self) -> None:
        """Give the folder back; calling it again changes nothing."""
        if self.fd >= 0:
            os.ftruncate(self.fd, 0)
            os.close(self.fd)
            self.fd = -1


def is_held(folder: Path) -> bool:
    """Return whether a stack runs on `folder`; what a killed one left to stop does not count."""
    try:
        fd = os.open(folder / _FILE, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        return not _try(fd) and psutil.pid_exists(_holder(folder))
    finally:
        os.close(fd)


def _try(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _holder(folder: Path) -> int:
    """Return the pid of who holds the lock, or -1 while that is not written."""
    text = (folder / _FILE).read_text()
    return int(text) if text.isdigit() else -1
