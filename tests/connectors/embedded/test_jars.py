import hashlib
import random
import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from io import StringIO
from pathlib import Path

import pytest

from connectors.embedded.errors import DownloadFailed
from connectors.embedded.fetch import fetch_all
from connectors.embedded.jars import Jar, class_path, pinned
from connectors.embedded.ports import free_ports
from connectors.embedded.progress import Lines

CONTENT = b"a jar" * 100
JAR = Jar("org.example", "thing", "1.0", len(CONTENT), hashlib.sha256(CONTENT).hexdigest())


class Quiet(SimpleHTTPRequestHandler):
    """A file server that keeps its requests to itself."""

    def log_message(self, *_told: object) -> None:
        return


class Arrived:
    """Counts as a progress bar does."""

    total_bytes = 0

    def __call__(self, arrived_bytes: int) -> None:
        self.total_bytes += arrived_bytes


@pytest.fixture
def repository(tmp_path: Path) -> Iterator[dict[str, str]]:
    """A Maven repository on loopback that has `JAR`."""
    file = tmp_path / "served" / "org" / "example" / "thing" / "1.0" / JAR.file_name
    file.parent.mkdir(parents=True)
    file.write_bytes(CONTENT)
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path / "served"))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield {"local": f"http://127.0.0.1:{server.server_port}"}
        server.shutdown()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the jars shall be."""
    (tmp_path / "jars").mkdir()
    return tmp_path / "jars"


def test_a_pinned_jar_is_fetched(repository: dict[str, str], folder: Path) -> None:
    """It arrives whole, and its bytes are counted."""
    arrived = Arrived()
    fetch_all([JAR], folder, arrived, repository)
    assert (folder / JAR.file_name).read_bytes() == CONTENT
    assert arrived.total_bytes == len(CONTENT)


def test_another_file_is_refused(repository: dict[str, str], folder: Path) -> None:
    """A file that is not the pinned one leaves nothing behind, nor does it count as progress."""
    arrived = Arrived()
    with pytest.raises(DownloadFailed, match="not the pinned file"):
        fetch_all([replace(JAR, sha256="0" * 64)], folder, arrived, repository)
    assert arrived.total_bytes == 0
    assert list(folder.iterdir()) == []


def test_a_jar_that_cannot_be_had_is_named(folder: Path) -> None:
    """Without a network the error says which file is missing."""
    (closed,) = free_ports(1, random.Random())
    with pytest.raises(DownloadFailed, match=JAR.file_name):
        fetch_all([JAR], folder, Arrived(), {"closed": f"http://127.0.0.1:{closed}"})


def test_the_lock_file_pins_the_broker(tmp_path: Path) -> None:
    """Every jar has a checksum, and the class path names each once."""
    assert {jar.artifact for jar in pinned()} >= {"kafka_2.13", "kafka-clients", "log4j-slf4j-impl"}
    assert all(len(jar.sha256) == 64 and jar.size_bytes > 0 for jar in pinned())
    assert len(set(class_path(tmp_path).split(":"))) == len(pinned())


def test_progress_without_a_terminal_is_a_line_a_quarter() -> None:
    """Logs of a build show that something moves, without a line a packet."""
    told = StringIO()
    with Lines(told).download("Kafka", 1_000) as advance:
        for _ in range(100):
            advance(10)
    assert told.getvalue().splitlines()[1:] == ["  25 %", "  50 %", "  75 %", "  100 %"]
