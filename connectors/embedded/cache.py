"""The per-user folder for what is downloaded or computed once and shared by every stack."""

import fcntl
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def default_cache() -> Path:
    """Return the platform's cache folder of this user for harkara."""
    home = Path.home()
    return (home / "Library" / "Caches" if sys.platform == "darwin" else home / ".cache") / "harkara"


@contextmanager
def one_at_a_time(cache: Path) -> Iterator[None]:
    """Keep other processes from filling the cache until the context closes; waits for its turn."""
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
