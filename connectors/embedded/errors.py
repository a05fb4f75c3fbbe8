"""Why the embedded stack could not start, in one line that says what to do."""

from pathlib import Path

from streams.errors import HarkaraError

_LOG_TAIL_LINES = 12


class FolderHeld(HarkaraError):
    """Another process uses the data folder; names it."""

    def __init__(self, folder: Path, pid: int, lives: bool = True) -> None:
        holder = f"process {pid}" if lives else f"programs that process {pid} started and left"
        super().__init__(f"{folder} is in use by {holder}: stop that first, or choose another folder")
        self.folder = folder
        self.pid = pid


class PartFailed(HarkaraError):
    """A part of the stack ended or did not answer; carries the last lines of its log."""

    def __init__(self, name: str, trouble: str, log: Path) -> None:
        tail = _last_lines(log)
        super().__init__(f"{name} {trouble}; its log is {log}" + (f" and ends with:\n{tail}" if tail else ""))
        self.name = name


class DownloadFailed(HarkaraError):
    """Kafka's program files could not be fetched, or are not the pinned ones."""


def _last_lines(log: Path) -> str:
    if not log.exists():
        return ""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - 8_192))
        text = file.read().decode(errors="replace")
    return "\n".join(text.splitlines()[-_LOG_TAIL_LINES:])
