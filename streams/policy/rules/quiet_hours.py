"""Nobody is woken by what can wait (R-121…R-128, R-139)."""

from streams.catalog import Quiet
from streams.policy.context import Context
from streams.policy.verdict import Drop, Hold, Verdict
from streams.reasons import Reason

_QUIET_HOURS = Drop(Reason.QUIET_HOURS)


def quiet_hours(context: Context) -> Verdict:
    """Hold until the user's quiet hours end, or drop, as the type says."""
    if context.intended_ms == context.earliest_ms:
        return None
    if context.kind.quiet is Quiet.DROP:
        return _QUIET_HOURS
    return Hold(context.intended_ms, Reason.QUIET_HOURS)
