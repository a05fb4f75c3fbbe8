"""The four figures of the main job: `python -m benchmarks.smoke [--json FILE]`, some three minutes.

Wall times on a shared machine are noise; compare runs by CPU time an event, and on an idle machine.
"""

import sys
import tempfile
from pathlib import Path

from benchmarks import latency, restore, router_rate, sender_rate
from benchmarks.report import json_argument, publish, report


def main() -> None:
    """Measure each part on a stack of its own and print the table."""
    json_file = json_argument(sys.argv[1:])
    with tempfile.TemporaryDirectory(prefix="harkara-") as name:
        folder = Path(name)
        arms = {
            "router": router_rate.measure(folder / "router", 300_000),
            "latency": latency.measure(folder / "latency", rate=200, seconds=15),
            "restore": restore.measure(folder / "restore", 250_000),
            "sender": sender_rate.measure(folder / "sender", 40_000),
        }
    publish(report("smoke", arms), json_file)


if __name__ == "__main__":
    main()
