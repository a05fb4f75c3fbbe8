import os
import subprocess
import sys
from pathlib import Path

import pytest

from connectors.embedded.addresses import Addresses
from connectors.embedded.errors import FolderHeld
from connectors.embedded.folder import Lock, is_held

ADDRESSES = Addresses("127.0.0.1:1", "redis://127.0.0.1:2", "http://u:secret@127.0.0.1:3")


def test_a_held_folder_names_its_holder(tmp_path: Path) -> None:
    """Whoever comes second learns which process to end."""
    lock = Lock.take(tmp_path)
    with pytest.raises(FolderHeld, match=f"in use by process {os.getpid()}"):
        Lock.take(tmp_path)
    lock.release()


def test_a_released_folder_can_be_taken_again(tmp_path: Path) -> None:
    """Nothing is left of a lock that was given back."""
    Lock.take(tmp_path).release()
    lock = Lock.take(tmp_path)
    assert is_held(tmp_path)
    lock.release()
    assert not is_held(tmp_path)


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    """A process that was killed leaves its pid in the file but holds nothing."""
    take = f"""
import os, signal
from pathlib import Path
from connectors.embedded.folder import Lock
Lock.take(Path({str(tmp_path)!r}))
os.kill(os.getpid(), signal.SIGKILL)
"""
    subprocess.run([sys.executable, "-c", take], check=False, cwd=Path(__file__).parents[3])
    assert (tmp_path / "lock").read_text().isdigit()
    Lock.take(tmp_path).release()


def test_the_folder_is_held_until_all_that_inherited_the_lock_have_ended(tmp_path: Path) -> None:
    """A start right after a kill waits for what the killed stack left behind."""
    leave_a_child = f"""
import subprocess, sys
from pathlib import Path
from connectors.embedded.folder import Lock
lock = Lock.take(Path({str(tmp_path)!r}))
subprocess.Popen([sys.executable, "-Sc", "input()"], pass_fds=[lock.fd], stdin=0)
"""
    command = [sys.executable, "-c", leave_a_child]
    with subprocess.Popen(command, stdin=subprocess.PIPE, cwd=Path(__file__).parents[3]) as parent:
        parent.wait()
        assert not is_held(tmp_path)  # the stack itself is gone
        assert parent.stdin is not None
        parent.stdin.close()  # the child ends
        Lock.take(tmp_path).release()


def test_addresses_are_read_while_the_stack_runs(tmp_path: Path) -> None:
    """Only this user can read them, and a stack that was killed has none."""
    lock = Lock.take(tmp_path)
    ADDRESSES.write(tmp_path)
    assert Addresses.read(tmp_path) == ADDRESSES
    assert (tmp_path / "stack.json").stat().st_mode & 0o777 == 0o600
    lock.release()
    assert Addresses.read(tmp_path) is None


def test_an_empty_folder_has_no_addresses(tmp_path: Path) -> None:
    """Nothing ran there, so there is nothing to ask."""
    assert Addresses.read(tmp_path) is None
