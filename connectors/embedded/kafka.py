"""Apache Kafka on one node, KRaft, with its Java runtime from a wheel; its data outlives restarts."""

import random
import secrets
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from connectors.embedded import broker, class_data, jars
from connectors.embedded.errors import PartFailed
from connectors.embedded.progress import Reporter
from connectors.embedded.supervisor import Supervised


@dataclass(frozen=True)
class Kafka:
    """One broker on a loopback port; acknowledged records survive a kill of the process."""

    folder: Path  # absolute
    cache: Path
    port: int
    controller_port: int
    dice: random.Random
    reporter: Reporter
    name: str = "kafka"

    @property
    def address(self) -> str:
        """Return host:port for clients."""
        return f"127.0.0.1:{self.port}"

    def prepare(self) -> None:
        """Install and format what is missing; the first time needs the network and some seconds.

        Raises DownloadFailed, or PartFailed when the data directory cannot be made.
        """
        jars.install(self.cache, self.reporter)
        class_data.make(self.cache, _cluster_id(), self.dice, self.reporter)
        # Native libraries that a killed broker unpacked; a living one cannot be here.
        shutil.rmtree(self.folder / "tmp", ignore_errors=True)
        broker.write_files(self.folder, self.port, self.controller_port)
        # Written last when a data directory is made, so with it the directory is complete.
        if not (self.folder / "data" / "meta.properties").exists():
            self._format()

    def program(self) -> Supervised:
        """Return the broker's program."""
        command = broker.run_command(self.cache, self.folder, class_data.flags(self.cache))
        return Supervised(self.name, command, self.folder / "output.log")

    def answers(self) -> bool:
        """Return whether an admin client is answered."""
        return broker.answers(self.port)

    def _format(self) -> None:
        log = self.folder / "format.log"
        command = broker.format_command(self.cache, self.folder, class_data.flags(self.cache), _cluster_id())
        with log.open("wb") as output:
            done = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, check=False)
        if done.returncode != 0:
            raise PartFailed(self.name, "could not make its data directory", log)


def _cluster_id() -> str:
    """Return a new cluster id: 16 random bytes as Kafka writes them."""
    # Kafka's tools would take a leading dash for an option.
    return "h" + secrets.token_urlsafe(16)[1:]
