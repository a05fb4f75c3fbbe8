"""One role as a process of the embedded pipeline: its command, its environment, its port."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from connectors.embedded.supervisor import Supervised
from harkara.embedded import probe
from harkara.settings import Settings

# A role drains for at most 20 s.
_STOP_MS = 25_000
#: -P: a file of the working directory must never stand for one of our modules.
HARKARA = (sys.executable, "-P", "-m", "harkara")


@dataclass(frozen=True)
class RoleProcess:
    """A member of a role. `instance` names its state and makes it a static member of its group."""

    name: str  # of the process, among those of the pipeline
    role: str
    port: int  # loopback, of its status pages
    instance: str = "0"
    arguments: tuple[str, ...] = ()  # further ones of `harkara run`
    command: tuple[str, ...] = HARKARA  # another one that takes the same arguments: for tests

    def program(self, settings: Settings, more: Mapping[str, str], held: tuple[int, ...]) -> Supervised:
        """Return the process; `more` is added to its environment, `held` are files it keeps open."""
        folder = settings.folder.absolute()
        own = replace(
            settings,
            folder=folder,
            instance=self.instance,
            status_port=self.port,
            clock_follow=True,
            log_format="json",
        )
        return Supervised(
            self.name,
            (*self.command, "run", self.role, *self.arguments),
            log_of(folder, self.name),
            env={**own.child_environ(), **more},
            stop_ms=_STOP_MS,
            keep_fds=held,
        )

    @property
    def ready(self) -> bool:
        """Whether it owns its partitions and has read what it must know first."""
        answer = probe.ask(self.port, "/readyz")
        return answer is not None and answer[0] == 200


def log_of(folder: Path, name: str) -> Path:
    """Return where a process's output goes."""
    return folder / "logs" / f"{name}.log"
