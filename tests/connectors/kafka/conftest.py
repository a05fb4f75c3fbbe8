"""Benches on the shared stack."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from connectors.embedded.addresses import Addresses
from tests.connectors.kafka.harness import Bench

NewBench = Callable[..., Bench]


@pytest.fixture
def new_bench(stack: Addresses, prefix: str, tmp_path: Path) -> Iterator[NewBench]:
    """Make the bench of a test; its workers end with the test."""
    made: list[Bench] = []

    def new(**wanted: object) -> Bench:
        bench = Bench(stack.kafka, tmp_path, prefix, **wanted)  # type: ignore[arg-type]  # passed on
        made.append(bench)
        return bench

    yield new
    for bench in made:
        bench.close()
