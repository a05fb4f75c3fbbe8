"""A process that cannot go on says why, once, and is gone."""

import os
import subprocess
import sys

import pytest


def _run(program: str, **options: object) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(  # type: ignore[call-overload,no-any-return]  # options of run
        [sys.executable, "-c", program], text=True, check=False, **options
    )


@pytest.mark.parametrize(
    ("error", "code"),
    [("LostOwnership", 70), ("OffsetGap", 71), ("DeliveryFailed", 72), ("StateTooNew", 73)],
)
def test_the_exit_code_tells_why(error: str, code: int) -> None:
    """A supervisor and a test can tell the reasons apart; no clean-up runs."""
    program = (
        "import atexit\n"
        "from connectors.kafka.exits import leave\n"
        f"from streams.errors import {error}\n"
        "atexit.register(print, 'cleaned up')\n"
        f"leave({error}('because'))\n"
    )
    ended = _run(program, capture_output=True)
    assert ended.returncode == code
    assert ended.stderr == f"leaving: {error}: because\n"
    assert ended.stdout == ""


def test_it_leaves_although_nobody_listens() -> None:
    """The reader of our words may have died first; an exception here would let the process go on."""
    reading, writing = os.pipe()
    os.close(reading)
    program = (
        "from connectors.kafka.exits import leave\n"
        "from streams.errors import OffsetGap\n"
        "try:\n"
        "    leave(OffsetGap('because'))\n"
        "except OSError:\n"
        "    pass\n"
        "raise SystemExit(1)\n"
    )
    ended = _run(program, stderr=writing, stdout=subprocess.DEVNULL)
    os.close(writing)
    assert ended.returncode == 71


_TASK = (
    "import asyncio\n"
    "from connectors.kafka.exits import leave_on_error\n"
    "from streams.errors import OffsetGap\n"
    "async def fail():\n"
    "    raise {error}\n"
    "async def main():\n"
    "    task = asyncio.create_task(fail(), name='a task')\n"
    "    task.add_done_callback(leave_on_error)\n"
    "    await asyncio.sleep(10)\n"
    "asyncio.run(main())\n"
)


def test_a_failed_task_ends_the_process_without_quoting_data() -> None:
    """The place of an unexpected error is told, its words are not: they may be somebody's."""
    ended = _run(_TASK.format(error="ValueError('+8801700000000')"), capture_output=True)
    assert ended.returncode == 73
    assert "leaving: HarkaraError: ValueError in a task" in ended.stderr
    assert "in fail" in ended.stderr
    assert "+8801700000000" not in ended.stderr.replace("raise ValueError('+8801700000000')", "")


def test_a_task_that_fails_for_a_known_reason_keeps_its_code() -> None:
    """An error of ours says itself what it means."""
    ended = _run(_TASK.format(error="OffsetGap('because')"), capture_output=True)
    assert ended.returncode == 71
    assert ended.stderr == "leaving: OffsetGap: because\n"
