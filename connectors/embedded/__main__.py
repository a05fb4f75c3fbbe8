"""Runs the embedded stack alone, until Ctrl-C or SIGTERM: `python -m connectors.embedded FOLDER [CACHE]`.

Writes one line to standard output when all parts answer: the addresses are in FOLDER/stack.json.
"""

import signal
import sys
from pathlib import Path
from types import FrameType

from connectors.embedded.progress import reporter_on
from connectors.embedded.stack import Stack
from streams.errors import HarkaraError


def _end(_number: int, _frame: FrameType | None) -> None:
    sys.exit(0)


def main(folder: str, cache: str | None = None) -> None:
    """Run the stack on `folder`; ends with one line when it cannot start."""
    signal.signal(signal.SIGTERM, _end)
    signal.signal(signal.SIGINT, _end)
    stack = Stack(Path(folder), cache=Path(cache) if cache else None, progress=reporter_on(sys.stderr))
    try:
        with stack:
            sys.stdout.write(f"ready: {folder}/stack.json\n")
            sys.stdout.flush()
            while True:
                signal.pause()
    except HarkaraError as failure:
        sys.exit(str(failure))


if __name__ == "__main__":
    main(*sys.argv[1:])
