"""What the producer asked for later waits for its instant."""

from streams.policy.context import Context
from streams.policy.verdict import Hold, Verdict
from streams.reasons import Reason


def scheduled(context: Context) -> Verdict:
    """Hold until the instant the producer asked for."""
    if context.earliest_ms <= context.now_ms:
        return None
    return Hold(context.earliest_ms, Reason.SCHEDULED)
