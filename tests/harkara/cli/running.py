"""Runs commands as a person would, as processes of their own."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec

from harkara.settings import Settings

_HARKARA = (sys.executable, "-m", "harkara")


def start(folder: Path, *arguments: str) -> "subprocess.Popen[str]":
    """Start a command on a data folder."""
    return subprocess.Popen(
        (*_HARKARA, "--folder", str(folder), *arguments),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=Settings.from_environ().child_environ(),
    )


def run(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run a command on a data folder to its end."""
    return subprocess.run(
        (*_HARKARA, "--folder", str(folder), *arguments),
        capture_output=True,
        text=True,
        check=False,
        env=Settings.from_environ().child_environ(),
    )


def answer(folder: Path, *arguments: str) -> Any:
    """Return the JSON document that a command prints."""
    done = run(folder, *arguments, "--json")
    assert done.stdout, done.stderr
    return msgspec.json.decode(done.stdout)
