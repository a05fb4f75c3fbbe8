"""So much a user and window, no more (R-129, R-130): counted where the message is meant to be sent."""

from streams.policy.caps import reached
from streams.policy.context import Context
from streams.policy.verdict import Drop, Verdict
from streams.reasons import Reason

_CAP_REACHED = Drop(Reason.CAP_REACHED)


def cap(context: Context) -> Verdict:
    """Drop what would exceed a cap in the window of its intended instant.

    The notification's own places never count against it.
    """
    for limit in context.kind.caps:
        if reached(limit, context.held, context):
            return _CAP_REACHED
    return None
