"""Downloads pinned jars from a Maven repository."""

import hashlib
import tempfile
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from jgo.config import GlobalSettings
from jgo.constants import MAVEN_CENTRAL_URL
from jgo.maven import MavenContext, PythonResolver
from requests import RequestException

from connectors.embedded.errors import DownloadFailed
from connectors.embedded.jars import Jar
from connectors.embedded.progress import Advance

_PARALLEL = 8
_TRIES = 3
_TIMEOUT_SECONDS = 30


def repositories() -> dict[str, str]:
    """Return where jars are looked for, by name: a mirror in the user's jgo settings comes first."""
    return {**GlobalSettings.load().repositories, "central": MAVEN_CENTRAL_URL}


def fetch_all(jars: Iterable[Jar], folder: Path, advance: Advance, remotes: dict[str, str]) -> None:
    """Put every jar into `folder`, several at once, each only if it is the pinned file.

    `remotes` are base URLs of Maven repositories by name. Raises DownloadFailed.
    """
    turn = threading.Lock()

    def count(arrived_bytes: int) -> None:
        with turn:
            advance(arrived_bytes)

    with ThreadPoolExecutor(_PARALLEL) as pool:
        fetches = [pool.submit(_fetch, jar, folder, count, remotes) for jar in jars]
        try:
            for fetch in fetches:
                fetch.result()
        finally:
            pool.shutdown(cancel_futures=True)


def _fetch(jar: Jar, folder: Path, advance: Advance, remotes: dict[str, str]) -> None:
    """Fetch one jar, again when the network fails or breaks it."""
    trouble: Exception | None = None
    for _ in range(_TRIES):
        # A repository of its own: the resolver leaves a broken file behind and would then trust it.
        with tempfile.TemporaryDirectory(dir=folder.parent) as repository:
            counted = _Counted(advance)
            try:
                file = _download(jar, Path(repository), counted, remotes)
            except (RequestException, RuntimeError, OSError) as failure:
                trouble = failure
            else:
                if hashlib.sha256(file.read_bytes()).hexdigest() == jar.sha256:
                    file.rename(folder / jar.file_name)
                    return
                trouble = ValueError("what came is not the pinned file")
            counted.undo()
    raise DownloadFailed(f"{jar.file_name} could not be downloaded: {trouble}") from trouble


def _download(jar: Jar, repository: Path, counted: "_Counted", remotes: dict[str, str]) -> Path:
    resolver = PythonResolver(progress_callback=counted.watch)
    maven = MavenContext(resolver, repository, [], remotes, _TIMEOUT_SECONDS)
    return maven.project(jar.group, jar.artifact).at_version(jar.version).artifact().resolve()


class _Counted:
    """Counts what one try brought, so that a broken try can be taken back from the progress."""

    def __init__(self, advance: Advance) -> None:
        self._advance = advance
        self._arrived_bytes = 0

    @contextmanager
    def watch(self, _name: str, _total_bytes: int) -> Iterator[Advance]:
        yield self._count

    def undo(self) -> None:
        self._advance(-self._arrived_bytes)

    def _count(self, arrived_bytes: int) -> None:
        self._arrived_bytes += arrived_bytes
        self._advance(arrived_bytes)
