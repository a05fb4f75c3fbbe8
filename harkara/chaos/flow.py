"""Writes a load at a steady rate while other things happen; an outage of Kafka is waited out."""

import threading
import time
from collections.abc import Iterable
from contextlib import ExitStack

from connectors.kafka.client_producer import CRC32, ClientProducer
from harkara.chaos.load import Load, Step
from harkara.wall_clock import WallClock
from streams.topics import PROFILES

_PATIENCE_S = 180.0


class Flow:
    """Introduces the people, then writes the steps on a thread of its own; a context manager.

    Leaving it ends the flow and waits until every record is durable; raises what ended the thread.
    """

    def __init__(self, bootstrap: str, load: Load, rate: float) -> None:
        """`rate`: steps a second."""
        clock, patience_ms = WallClock(), round(_PATIENCE_S * 1000)
        self._own = ClientProducer(bootstrap, clock, patience_ms=patience_ms)
        self._foreign = ClientProducer(bootstrap, clock, partitioner=CRC32, patience_ms=patience_ms)
        self._load = load
        self._rate = rate
        self._open = ExitStack()
        self._ending = threading.Event()
        self._failure: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="flow", daemon=True)
        self.written = 0

    def __enter__(self) -> "Flow":
        self._open.enter_context(self._own)
        self._open.enter_context(self._foreign)
        for person in self._load.people:
            for command in person.commands:
                self._own.send(PROFILES.full_name, person.user_id.encode(), command)
        self._own.flush(_PATIENCE_S)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        self._thread.join()
        self._open.close()
        if self._failure is not None:
            raise self._failure

    def pass_steps(self, count: int) -> None:
        """Return when so many more steps are written, or the flow is over."""
        goal = self.written + count
        while self._thread.is_alive() and self.written < goal:
            time.sleep(0.02)

    def _run(self) -> None:
        try:
            self._write(self._load.steps)
        except Exception as failure:  # raised by whoever waits for the end
            self._failure = failure

    def _write(self, steps: Iterable[Step]) -> None:
        begun = time.monotonic()
        for number, step in enumerate(steps):
            if self._ending.wait(max(0.0, begun + number / self._rate - time.monotonic())):
                break
            producer = self._foreign if step.by_crc32 else self._own
            producer.send(step.topic, step.key, step.value)
            if step.alone:
                producer.flush(_PATIENCE_S)
            self.written += 1
        for producer in (self._own, self._foreign):
            producer.flush(_PATIENCE_S)
