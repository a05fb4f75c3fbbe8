"""How failed attempts are repeated: presets that a type names (R-183…R-186)."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RetryPlan:
    """Waits grow from `base_ms` by a factor of two up to `cap_ms`, with full jitter.

    The first `in_place` repeats are made by the sender itself within a second; `attempts` counts
    every call.
    """

    name: str
    base_ms: int
    cap_ms: int
    attempts: int
    in_place: int = 2


#: A code that expires in minutes retries fast and short, an offer slowly.
RETRIES: dict[str, RetryPlan] = {
    plan.name: plan
    for plan in (
        RetryPlan("fast", base_ms=1_000, cap_ms=15_000, attempts=6),
        RetryPlan("standard", base_ms=5_000, cap_ms=600_000, attempts=6),
        RetryPlan("slow", base_ms=60_000, cap_ms=3_600_000, attempts=6),
    )
}
STANDARD = RETRIES["standard"]
