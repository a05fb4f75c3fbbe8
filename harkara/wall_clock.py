"""The machine's time, in a file of its own: a command that needs no more starts faster."""

import time


class WallClock:
    """Milliseconds since the epoch, by the machine."""

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000
