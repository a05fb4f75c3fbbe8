"""What every benchmark prints: a table for people and, with `--json FILE`, one shape for tools."""

import argparse
import os
import platform
from collections.abc import Sequence
from pathlib import Path

import msgspec
import psutil

from harkara.cli.output import print_table

Metrics = dict[str, float]


class Report(msgspec.Struct, frozen=True):
    """The figures of one benchmark: metrics by arm, and each arm's ratio to the first where that is fair."""

    benchmark: str
    arms: dict[str, Metrics]
    ratios: dict[str, float]
    machine: dict[str, str | int]


def report(benchmark: str, arms: dict[str, Metrics], ratio_of: str | None = None) -> Report:
    """Gather the figures; with `ratio_of`, compare every arm by that metric with the first arm."""
    ratios: dict[str, float] = {}
    if ratio_of is not None:
        first = next(iter(arms.values()))[ratio_of]
        ratios = {
            arm: round(metrics[ratio_of] / first, 3) for arm, metrics in arms.items() if ratio_of in metrics
        }
    return Report(benchmark, arms, ratios, machine())


def machine() -> dict[str, str | int]:
    """What the figures were measured on; nothing that names the host."""
    return {
        "system": platform.system(),
        "arch": platform.machine(),
        "python": platform.python_version(),
        "cores": os.cpu_count() or 1,
        "memory_mb": psutil.virtual_memory().total // 2**20,
    }


def publish(result: Report, json_file: Path | None) -> None:
    """Print the table, and write the JSON if a file was asked for."""
    columns = sorted({metric for metrics in result.arms.values() for metric in metrics})
    rows = [[arm, *(metrics.get(column) for column in columns)] for arm, metrics in result.arms.items()]
    print_table(result.benchmark, ["arm", *columns], rows)
    if json_file is not None:
        json_file.write_bytes(msgspec.json.format(msgspec.json.encode(result), indent=2))


def json_argument(arguments: Sequence[str] | None = None) -> Path | None:
    """Read `--json FILE` from the command line of a benchmark without other options."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", type=Path, metavar="FILE")
    json_file: Path | None = parser.parse_args(arguments).json
    return json_file
