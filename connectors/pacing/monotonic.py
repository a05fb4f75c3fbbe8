"""The clock of waits and breakers: it never jumps, neither with the wall clock nor with the demo's."""

import time


def monotonic_ms() -> float:
    """Return milliseconds since some fixed instant."""
    return time.monotonic() * 1000
