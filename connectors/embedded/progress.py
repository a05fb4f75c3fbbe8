"""Shows how far a download is: a bar on a terminal, a few plain lines elsewhere."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol, TextIO

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn


class Advance(Protocol):
    """Takes note of bytes that arrived; negative when a file is fetched again."""

    def __call__(self, arrived_bytes: int) -> None: ...


class Reporter(Protocol):
    """Tells a person what takes time at the first start."""

    def download(self, what: str, total_bytes: int) -> AbstractContextManager[Advance]:
        """Show a download of `total_bytes` for as long as the context is open."""
        ...

    def step(self, what: str) -> None:
        """Say that something else begins."""
        ...


class Silent:
    """Says nothing: for tests and for programs that report themselves."""

    @contextmanager
    def download(self, what: str, total_bytes: int) -> Iterator[Advance]:
        yield lambda arrived_bytes: None

    def step(self, what: str) -> None:
        return


class Lines:
    """One line when a download begins and one for every quarter of it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    @contextmanager
    def download(self, what: str, total_bytes: int) -> Iterator[Advance]:
        """Print the start, each quarter and the end."""
        self.step(f"downloading {what}, {total_bytes / 1e6:.0f} MB, once")
        arrived = 0

        def advance(arrived_bytes: int) -> None:
            nonlocal arrived
            before, arrived = arrived, arrived + arrived_bytes
            if before * 4 // total_bytes < arrived * 4 // total_bytes:
                self.step(f"  {arrived * 100 // total_bytes} %")

        yield advance

    def step(self, what: str) -> None:
        """Print one line."""
        self._stream.write(f"{what}\n")
        self._stream.flush()


class Bar:
    """A progress bar, for terminals."""

    def __init__(self, stream: TextIO) -> None:
        self._console = Console(file=stream)

    @contextmanager
    def download(self, what: str, total_bytes: int) -> Iterator[Advance]:
        """Draw the bar until the context closes."""
        columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
        with Progress(*columns, console=self._console) as bar:
            task = bar.add_task(f"downloading {what}, once", total=total_bytes)
            yield lambda arrived_bytes: bar.advance(task, arrived_bytes)

    def step(self, what: str) -> None:
        """Print one line above where the next bar will be."""
        self._console.print(what)


def reporter_on(stream: TextIO) -> Reporter:
    """Return a bar when `stream` is a terminal, else plain lines."""
    return Bar(stream) if stream.isatty() else Lines(stream)
