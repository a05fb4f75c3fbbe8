"""The process that owns the ClickHouse data: `python -m connectors.embedded.owner DATA PORT PASSWORD_FILE`.

Ends with one line that says why when the data is in use; ends cleanly on SIGTERM.
"""

import sys
from pathlib import Path

from aiohttp import web

from connectors.embedded.engine import Engine
from connectors.embedded.errors import FolderHeld
from connectors.embedded.facade import Facade
from connectors.embedded.folder import Lock

# Longer than any client keeps an idle connection, so that no request meets one being closed.
_KEEPALIVE_SECONDS = 3_600.0
_SHUTDOWN_SECONDS = 10.0


def own(data: Path, port: int, password: str) -> None:
    """Serve the data at `data` on a loopback port until SIGTERM or SIGINT.

    Raises FolderHeld when another owner has it, RuntimeError when another program has.
    """
    lock = Lock.take(data.parent)
    facade = Facade(lambda: Engine(data), password)
    web.run_app(
        facade.application(),
        host="127.0.0.1",
        port=port,
        print=None,
        access_log=None,
        shutdown_timeout=_SHUTDOWN_SECONDS,
        keepalive_timeout=_KEEPALIVE_SECONDS,
    )
    lock.release()


def main(data: str, port: str, password_file: str) -> None:
    """Serve, or end with one line that says why not."""
    try:
        own(Path(data), int(port), Path(password_file).read_text())
    except FolderHeld as held:
        sys.exit(str(held))
    except RuntimeError as failure:
        sys.exit(f"the ClickHouse data in {data} cannot be opened; another program may use it: {failure}")


if __name__ == "__main__":
    main(*sys.argv[1:])
