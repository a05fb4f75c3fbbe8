"""A pipeline that may be broken, shared by the attacks of one file."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harkara.chaos.attack import PROVIDERS, Attacked, attack, settings_of
from harkara.embedded.pipeline import EmbeddedPipeline
from harkara.settings import Settings

Survive = Callable[..., Attacked]


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory: pytest.TempPathFactory, cache: Path | None) -> Iterator[EmbeddedPipeline]:
    """Everything between a producer and a phone, with short sessions and slow providers."""
    settings = settings_of(Settings(folder=tmp_path_factory.mktemp("chaos"), cache=cache))
    with EmbeddedPipeline(settings, script=PROVIDERS) as started:
        yield started


@pytest.fixture
def survive(pipeline: EmbeddedPipeline, request: pytest.FixtureRequest) -> Survive:
    """Attack in the middle of a flow; fails with every promise that was broken, now or earlier."""

    def check(fault: str, seed: int = 1) -> Attacked:
        attacked = attack(
            pipeline, [fault], seed, tag=f"{request.node.name.removeprefix('test_')[:40]}-{seed}"
        )
        print(attacked)  # noqa: T201 - shown when it fails
        assert attacked.verdict.broken == {}
        assert attacked.noisy == {}
        assert attacked.verdict.figures["sent"] > 0
        return attacked

    return check
