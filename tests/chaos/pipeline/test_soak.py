"""The long form: every fault in a seeded order on one pipeline, ten times."""

from pathlib import Path

import pytest

from harkara.chaos.attack import PROVIDERS, attack, settings_of
from harkara.chaos.faults import FAULTS, drawn
from harkara.embedded.pipeline import EmbeddedPipeline
from harkara.settings import Settings

pytestmark = [pytest.mark.integration, pytest.mark.soak, pytest.mark.timeout(3_600)]


@pytest.mark.parametrize("seed", range(1, 11))
def test_every_fault_in_a_row(tmp_path: Path, cache: Path | None, seed: int) -> None:
    """Whatever order they come in, and servers away for a minute now and then: every promise holds."""
    settings = settings_of(Settings(folder=tmp_path, cache=cache))
    gone_s = 60.0 if seed % 5 == 1 else 10.0
    with EmbeddedPipeline(settings, script=PROVIDERS) as pipeline:
        attacked = attack(
            pipeline, drawn(seed, len(FAULTS)), seed, tag=f"soak-{seed}", gone_s=gone_s, say=print
        )
    print(attacked)  # noqa: T201 - shown when it fails
    assert attacked.verdict.broken == {}
    assert attacked.noisy == {}
