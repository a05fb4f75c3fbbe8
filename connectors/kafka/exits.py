"""The one way out of a process that cannot go on: say why, once, and leave at once."""

import asyncio
import os
import sys
import traceback
from typing import NoReturn

from streams.errors import DeliveryFailed, HarkaraError, LostOwnership, OffsetGap

#: Exit codes, so that a supervisor and a test can tell why a role left.
EXIT_CODES: dict[type[HarkaraError], int] = {LostOwnership: 70, OffsetGap: 71, DeliveryFailed: 72}
EXIT_OTHER = 73


def leave(error: HarkaraError) -> NoReturn:
    """End the process without any clean-up: nothing after this line may write or acknowledge."""
    sys.stderr.write(f"leaving: {type(error).__name__}: {error}\n")
    sys.stderr.flush()
    sys.stdout.flush()
    os._exit(EXIT_CODES.get(type(error), EXIT_OTHER))


def leave_on_error(task: "asyncio.Task[None]") -> None:
    """End the process if a task that must not fail has failed (a task's done-callback)."""
    if task.cancelled() or (error := task.exception()) is None:
        return
    traceback.print_exception(error)
    leave(error if isinstance(error, HarkaraError) else HarkaraError(f"{type(error).__name__} in {task.get_name()}"))
