"""Keeps a tally of the public feed while other work goes on."""

import threading
from collections.abc import Callable
from typing import TypeVar

from connectors.kafka.tail import Tail
from harkara.tally import Tally
from streams.records.codec import read_dead_letter, read_delivery_event, read_rejection
from streams.topics import DEAD_LETTERS, DELIVERY_EVENTS, REJECTED

T = TypeVar("T")


class Watch:
    """A thread that folds what is written from now on; a context manager."""

    def __init__(self, bootstrap: str, since_ms: int = 0) -> None:
        """Count deliveries admitted at or after `since_ms`."""
        self._tail = Tail(bootstrap, (DELIVERY_EVENTS, REJECTED, DEAD_LETTERS))
        self._folded = dict(self._tail.starts)
        self._tally = Tally(since_ms)
        self._lock = threading.Lock()
        self._ending = threading.Event()
        self._failure: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)

    def __enter__(self) -> "Watch":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        self._thread.join()
        self._tail.__exit__()

    def ask(self, question: Callable[[Tally], T]) -> T:
        """Return the answer to a question about the tally as it is now; raises what ended the thread."""
        if self._failure is not None:
            raise self._failure
        with self._lock:
            return question(self._tally)

    def behind(self) -> bool:
        """Whether something was in the topics at this call that is not in the tally."""
        ends = self._tail.ends()
        with self._lock:
            return any(self._folded[place] < end for place, end in ends.items())

    def _run(self) -> None:
        try:
            while not self._ending.is_set():
                self._fold()
        except Exception as failure:  # told to whoever asks
            self._failure = failure

    def _fold(self) -> None:
        # Read outside the lock: a question must not wait for Kafka.
        messages = self._tail.take(0.1)
        with self._lock:
            for message in messages:
                if message.topic() == DELIVERY_EVENTS.full_name:
                    self._tally.note(read_delivery_event(message.value() or b""))
                elif message.topic() == REJECTED.full_name:
                    self._tally.refused[read_rejection(message.value() or b"").reason] += 1
                else:
                    self._tally.dead[read_dead_letter(message.value() or b"").reason] += 1
                self._folded[message.topic() or "", message.partition() or 0] = (message.offset() or 0) + 1
