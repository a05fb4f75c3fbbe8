"""The one way out of a process that cannot go on: say why, once, and leave at once."""

import asyncio
import os
import sys
import traceback
from typing import NoReturn

from aiokafka.errors import KafkaError
from confluent_kafka import KafkaException

from streams.errors import DeliveryFailed, HarkaraError, LostOwnership, OffsetGap

#: Exit codes, so that a supervisor and a test can tell why a role left.
EXIT_CODES: dict[type[HarkaraError], int] = {LostOwnership: 70, OffsetGap: 71, DeliveryFailed: 72}
EXIT_OTHER = 73


def leave(error: HarkaraError) -> NoReturn:
    """End the process without any clean-up: nothing after this line may write or acknowledge."""
    try:
        sys.stderr.write(f"leaving: {type(error).__name__}: {error}\n")
        sys.stderr.flush()
        sys.stdout.flush()
    finally:  # whoever read our words may be gone; we go all the same
        os._exit(EXIT_CODES.get(type(error), EXIT_OTHER))


def leave_for(error: BaseException, where: str) -> NoReturn:
    """End the process for an error that nobody expected: its place is told, not its words.

    They may quote somebody's data; Kafka's speak of topics and our own of nobody.
    """
    if isinstance(error, HarkaraError):
        leave(error)
    traceback.print_tb(error.__traceback__)
    words = f": {error}" if isinstance(error, KafkaError | KafkaException) else ""
    leave(HarkaraError(f"{type(error).__name__} in {where}{words}"))


def leave_on_error(task: "asyncio.Task[None]") -> None:
    """End the process if a task that must not fail has failed (a task's done-callback)."""
    if not task.cancelled() and (error := task.exception()) is not None:
        leave_for(error, task.get_name())
