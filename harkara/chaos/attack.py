"""One fault in the middle of a flow, and what came of it; or many, one after the other."""

import random
import time
from collections.abc import Callable
from dataclasses import replace

from msgspec import Struct

from connectors.simulator.script import Latency, Reset, Rule, Script
from harkara.chaos.drain import drain
from harkara.chaos.faults import FAULTS, Scene
from harkara.chaos.flow import Flow
from harkara.chaos.load import load
from harkara.chaos.verdict import Verdict, judge
from harkara.chaos.vitals import Vitals
from harkara.embedded.pipeline import EmbeddedPipeline
from harkara.settings import Settings

#: The shortest session Kafka allows.
SESSION_MS = 6_000
IN_FLIGHT = 16
#: A log line for everything that is wrong is right, hundreds for one thing are not.
MOST_LINES = 60
_PATIENCE_S = 120.0
_USERS = 60

#: Providers are slow enough to have calls in flight, and now and then take a message but tell nobody.
PROVIDERS = Script(
    rules=(
        Rule("slow", Latency(80, 80)),
        Rule("torn", Reset(accepted=True), share=0.01),
    )
)


class Attacked(Struct, frozen=True):
    """What came of it. `fault_s`: until all was there again; `drain_s`: from the end of the flow to rest."""

    faults: dict[str, float]  # each with its seconds, from its begin until all was there again
    flow_s: float
    drain_s: float
    verdict: Verdict
    restarts: dict[str, int]
    lines: dict[str, int]  # logged by each role
    burnt: dict[str, float]  # the most of a core that each role used while a server was away

    @property
    def holds(self) -> bool:
        return self.verdict.holds and not self.noisy

    @property
    def noisy(self) -> dict[str, int]:
        """Roles that logged more than is readable."""
        most = MOST_LINES * max(1, len(self.faults))
        return {name: count for name, count in self.lines.items() if count > most}


def settings_of(settings: Settings) -> Settings:
    """Return the settings under which faults show soon: short sessions, few calls in flight."""
    return replace(
        settings,
        router_session_ms=SESSION_MS,
        sink_session_ms=SESSION_MS,
        sender_session_ms=SESSION_MS,
        critical_sender_session_ms=SESSION_MS,
        sender_inflight=IN_FLIGHT,
    )


def attack(
    pipeline: EmbeddedPipeline,
    names: list[str],
    seed: int,
    *,
    tag: str,
    rate: float = 60.0,
    gone_s: float = 4.0,
    say: Callable[[str], None] = lambda _: None,
) -> Attacked:
    """Do these faults in the middle of a flow, wait until all is quiet, and judge everything."""
    vitals, dice = Vitals(pipeline), random.Random(seed)  # noqa: S311 - a seeded stream, guards nothing
    scene = Scene(pipeline, dice, gone_s)
    took: dict[str, float] = {}
    begun = time.monotonic()
    made = load(seed, tag, _USERS, time.time_ns() // 1_000_000)
    with Flow(pipeline.addresses.kafka, made, rate) as flow:
        flow.pass_steps(120)
        for number, name in enumerate(names):
            at = time.monotonic()
            FAULTS[name](scene)
            took[f"{number + 1} {name}" if len(names) > 1 else name] = round(time.monotonic() - at, 1)
            say(f"{name}: all there again after {time.monotonic() - at:.1f} s")
            flow.pass_steps(60)
    flow_s = time.monotonic() - begun
    verdict = judge(drain(pipeline, _PATIENCE_S), pipeline.partitions)
    lines = {name: len(lines) for name, lines in vitals.lines().items()}
    drain_s = time.monotonic() - begun - flow_s
    return Attacked(
        took,
        round(flow_s, 1),
        round(drain_s, 1),
        verdict,
        vitals.restarts(),
        lines,
        {name: round(share, 2) for name, share in scene.burnt.items()},
    )
