"""What goes wrong at the simulated providers, and in which scene."""

from connectors.simulator.script import Latency, Quota, Refusal, Rule, Script
from harkara.demo.people import DEAD

#: Scenes of the simulator; outside of them only dead tokens are refused.
DOWN = "down"
NARROW = "narrow"
PROVIDER = "fcm"

SCRIPT = Script(
    seed=7,
    rules=(
        Rule("usual delay", Latency(ms=15, jitter_ms=15)),
        Rule("dead tokens", Refusal("UNREGISTERED"), provider=PROVIDER, addresses=(f"*{DEAD}",)),
        Rule("outage", Refusal("UNAVAILABLE"), provider=PROVIDER, scenes=(DOWN,)),
        # It comes back with a part of its strength: from these refusals the pace is learnt.
        Rule("narrow", Quota(limit=150, window_ms=500), provider=PROVIDER, scenes=(NARROW,)),
    ),
)
