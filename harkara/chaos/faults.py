"""Every fault by its name: what it does to a running pipeline. Each ends with everything started again."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from signal import SIGKILL

from harkara.chaos.vitals import burnt
from harkara.embedded.pipeline import EmbeddedPipeline
from streams.errors import HarkaraError

_POLL_S = 0.05
_TAKEOVER_S = 60.0
_SECOND = "-b"
#: A member that is silent for longer than this has lost its partitions (sessions of a round are 6 s).
PAUSE_S = 8.0


@dataclass(frozen=True)
class Scene:
    """A pipeline in the middle of a flow.

    `burnt`: the most of a core that each role used while a server was away.
    """

    pipeline: EmbeddedPipeline
    dice: random.Random
    gone_s: float = 4.0  # how long a server stays away
    burnt: dict[str, float] = field(default_factory=dict)

    def wait(self) -> None:
        """Let a server be away, and watch the roles meanwhile."""
        for name, share in burnt(self.pipeline, self.gone_s).items():
            self.burnt[name] = max(share, self.burnt.get(name, 0.0))


Fault = Callable[[Scene], None]


def router_killed(scene: Scene) -> None:
    """SIGKILL the router; it is started again and repeats what it had decided."""
    _kill(scene, "router")


def sender_killed(scene: Scene) -> None:
    """SIGKILL the sender with calls in flight."""
    _kill(scene, "sender")


def sink_killed(scene: Scene) -> None:
    """SIGKILL the sink between an insert and its commit, perhaps."""
    _kill(scene, "sink")


def router_joined(scene: Scene) -> None:
    """A second router takes over some partitions and gives them back."""
    _join_and_leave(scene, "router")


def sender_joined(scene: Scene) -> None:
    """A second sender takes over some partitions and gives them back."""
    _join_and_leave(scene, "sender")


def router_paused(scene: Scene) -> None:
    """Suspend one of two routers for longer than its session, then let it go on."""
    _pause(scene, "router")


def sender_paused(scene: Scene) -> None:
    """Suspend one of two senders for longer than its session, then let it go on."""
    _pause(scene, "sender")


def kafka_killed(scene: Scene) -> None:
    """SIGKILL the broker; it comes back at once."""
    scene.pipeline.stack.kill("kafka", SIGKILL)
    time.sleep(0.5)
    scene.pipeline.stack.wait("kafka")
    recovered(scene.pipeline)


def kafka_gone(scene: Scene) -> None:
    """Take Kafka away for a while."""
    _gone(scene, "kafka")


def valkey_gone(scene: Scene) -> None:
    """Take Valkey away: senders keep their last share of the pace."""
    _gone(scene, "valkey")


def clickhouse_gone(scene: Scene) -> None:
    """Take ClickHouse away: the sink holds what it has read."""
    _gone(scene, "clickhouse")


def simulator_gone(scene: Scene) -> None:
    """Take the providers away: breakers open, deliveries wait."""
    scene.pipeline.halt("simulator")
    scene.wait()
    scene.pipeline.resume("simulator")
    recovered(scene.pipeline)


FAULTS: dict[str, Fault] = {
    fault.__name__: fault
    for fault in (
        router_killed,
        sender_killed,
        sink_killed,
        router_joined,
        sender_joined,
        router_paused,
        sender_paused,
        kafka_killed,
        kafka_gone,
        valkey_gone,
        clickhouse_gone,
        simulator_gone,
    )
}


def drawn(seed: int, count: int) -> list[str]:
    """Return the faults of a seed in their order: each once before any comes again."""
    dice = random.Random(seed)  # noqa: S311 - a seeded stream, guards nothing
    names: list[str] = []
    while len(names) < count:
        names += dice.sample(list(FAULTS), len(FAULTS))
    return names[:count]


def recovered(pipeline: EmbeddedPipeline) -> None:
    """Return when everything is there again, by itself. Raises PartFailed after 90 s."""
    pipeline.stack.wait()
    pipeline.wait(*(name for name in pipeline.roles if not name.endswith(_SECOND)))


def owned(pipeline: EmbeddedPipeline, name: str) -> dict[str, frozenset[int]]:
    """Return the partitions that each app of a process owns, as it says itself."""
    facts = pipeline.facts(name) or {}
    apps = facts.get("apps")
    if not isinstance(apps, dict):
        return {}
    return {app: frozenset(told["partitions"]) for app, told in apps.items()}


class NotRecovered(HarkaraError):
    """Something did not come back by itself."""


def until(what: str, holds: Callable[[], bool], patience_s: float = _TAKEOVER_S) -> None:
    """Return when it holds; raises NotRecovered that says what did not come."""
    deadline = time.monotonic() + patience_s
    while not holds():
        if time.monotonic() > deadline:
            raise NotRecovered(f"{what}: not after {patience_s:.0f} s")
        time.sleep(_POLL_S)


def _kill(scene: Scene, name: str) -> None:
    scene.pipeline.kill(name)
    time.sleep(0.2)
    recovered(scene.pipeline)


def _second(role: str) -> str:
    return role + _SECOND


def join(pipeline: EmbeddedPipeline, role: str) -> None:
    """Start a second member of a role and wait until it owns something."""
    other = _second(role)
    if other in pipeline.roles:
        pipeline.resume(other)
    else:
        pipeline.join(other, role)
    pipeline.wait(other)
    until(f"{other} owns a partition", lambda: any(owned(pipeline, other).values()))


def leave(pipeline: EmbeddedPipeline, role: str) -> None:
    """End the second member cleanly and wait until the first owns everything again."""
    pipeline.halt(_second(role))
    until(f"{role} owns everything again", lambda: owns_all(pipeline, role))


def owns_all(pipeline: EmbeddedPipeline, name: str) -> bool:
    """Whether each app of a process owns all partitions."""
    found = owned(pipeline, name)
    return bool(found) and all(len(mine) == pipeline.partitions for mine in found.values())


def _join_and_leave(scene: Scene, role: str) -> None:
    join(scene.pipeline, role)
    time.sleep(1.0 + scene.dice.random())
    leave(scene.pipeline, role)


def _pause(scene: Scene, role: str) -> None:
    pipeline, other = scene.pipeline, _second(role)
    join(pipeline, role)
    until(f"{role} works beside {other}", lambda: any(owned(pipeline, role).values()))
    time.sleep(1.0)
    pipeline.pause(role)
    time.sleep(PAUSE_S)
    until(f"{other} owns everything", lambda: owns_all(pipeline, other))
    pipeline.unpause(role)
    time.sleep(1.0)  # it ends by its fence, or joins again
    until(f"{role} owns something again", lambda: any(owned(pipeline, role).values()))
    leave(pipeline, role)


def _gone(scene: Scene, part: str) -> None:
    scene.pipeline.stack.halt(part)
    scene.wait()
    scene.pipeline.stack.resume(part)
    recovered(scene.pipeline)
