"""Kafka's program files: pinned by checksum, fetched once a user, complete or not there at all."""

import hashlib
import shutil
from dataclasses import dataclass
from functools import cache as once
from pathlib import Path

from connectors.embedded.cache import one_at_a_time
from connectors.embedded.progress import Reporter

KAFKA_VERSION = "4.4.0"
LOCK_FILE = Path(__file__).with_name("kafka.lock")


@dataclass(frozen=True)
class Jar:
    """One pinned file of the broker."""

    group: str
    artifact: str
    version: str
    size_bytes: int
    sha256: str

    @property
    def file_name(self) -> str:
        return f"{self.artifact}-{self.version}.jar"


@once
def pinned() -> tuple[Jar, ...]:
    """Return the jars of the lock file, in the order of the class path."""
    jars = []
    for line in LOCK_FILE.read_text().splitlines():
        if line and not line.startswith("#"):
            coordinate, size_bytes, sha256 = line.split()
            group, artifact, version = coordinate.split(":")
            jars.append(Jar(group, artifact, version, int(size_bytes), sha256))
    return tuple(jars)


def home(cache: Path) -> Path:
    """Return where this release of Kafka lives in the cache; another lock file gives another place."""
    lock = hashlib.sha256(LOCK_FILE.read_bytes()).hexdigest()[:12]
    return cache / f"kafka-{KAFKA_VERSION}-{lock}"


def class_path(cache: Path) -> str:
    """Return the Java class path of the installed jars."""
    return ":".join(str(home(cache) / "jars" / jar.file_name) for jar in pinned())


def install(cache: Path, reporter: Reporter) -> None:
    """Fetch the jars unless they are there; needs the network only the first time.

    Raises DownloadFailed when a file cannot be had or is not the pinned one; nothing stays then.
    """
    target = home(cache) / "jars"
    if target.is_dir():
        return
    # Here, because the resolver takes half a second to import and is needed once.
    from connectors.embedded.fetch import fetch_all, repositories

    with one_at_a_time(cache):
        if target.is_dir():
            return
        arriving = home(cache) / "arriving"
        shutil.rmtree(arriving, ignore_errors=True)
        arriving.mkdir(parents=True)
        total_bytes = sum(jar.size_bytes for jar in pinned())
        with reporter.download(f"Apache Kafka {KAFKA_VERSION}", total_bytes) as advance:
            fetch_all(pinned(), arriving, advance, repositories())
        arriving.rename(target)
