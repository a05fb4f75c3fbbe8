"""Real stores for the tests of views and lines."""

from pathlib import Path

from rocksdict import Options, Rdict

from connectors.kafka.view import OFFSET_KEY, OWNED_KEY


def open_store(folder: Path) -> Rdict:
    """Open a store of raw bytes, as a table's partition has one."""
    return Rdict(str(folder), Options(raw_mode=True))


def rows(store: Rdict) -> dict[bytes, bytes]:
    """Return what is stored, but for the store's own dates."""
    found: dict[bytes, bytes] = dict(store.items())  # type: ignore[arg-type]  # raw mode: bytes
    return {key: value for key, value in found.items() if key not in (OFFSET_KEY, OWNED_KEY)}
