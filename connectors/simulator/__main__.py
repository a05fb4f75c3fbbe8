"""Runs the simulated providers as a process of their own: `python -m connectors.simulator`."""

import argparse
import asyncio
import gc
import json
import random
import signal
import sys
import time
from pathlib import Path

import uvloop

from connectors.simulator.script import Script, read_script
from connectors.simulator.server import Simulator, SimulatorSettings
from streams.errors import SettingError


class WallClock:
    """The machine's clock: the simulated world does not follow the demo's."""

    def now_ms(self) -> int:
        """Return milliseconds since the epoch."""
        return time.time_ns() // 1_000_000


def main(arguments: list[str]) -> int:
    """Serve until SIGTERM or SIGINT; print one line of JSON with the addresses when ready."""
    parser = argparse.ArgumentParser(prog="python -m connectors.simulator", description=__doc__)
    parser.add_argument("--folder", type=Path, required=True, help="keeps the ledger and the accounts")
    parser.add_argument("--token-file", type=Path, required=True, help="holds the control calls' token")
    parser.add_argument("--port", type=int, default=0, help="for everything; 0: any free one")
    parser.add_argument("--fcm-port", type=int, default=0, help="for FCM alone")
    parser.add_argument("--twilio-port", type=int, default=0, help="for Twilio alone")
    parser.add_argument("--script", type=Path, help="faults to begin with, YAML or JSON")
    given = parser.parse_args(arguments)
    try:
        settings = SimulatorSettings(
            folder=given.folder,
            token=_token(given.token_file),
            port=given.port,
            fcm_port=given.fcm_port,
            twilio_port=given.twilio_port,
            script=read_script(given.script) if given.script else Script(),
        )
    except SettingError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    uvloop.run(_serve(settings))
    return 0


async def _serve(settings: SimulatorSettings) -> None:
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    simulator = Simulator(settings, WallClock(), random.Random())  # noqa: S311 - faults, no secrets
    await simulator.start()
    # What is alive now stays: the collector need not look at it for each few hundred calls.
    gc.freeze()
    gc.set_threshold(100_000, 50, 50)
    sys.stdout.write(json.dumps({"ready": True, **simulator.urls}) + "\n")
    sys.stdout.flush()
    await stopped.wait()
    await simulator.stop()


def _token(path: Path) -> str:
    try:
        token = path.read_text().strip()
    except OSError:
        token = ""
    if len(token) < 16:
        raise SettingError("token-file", f"{path.name} must hold a token of 16 characters or more")
    return token


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
