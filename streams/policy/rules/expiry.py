"""Nothing is sent, or kept for later, past its expiry (R-189)."""

from streams.policy.context import Context
from streams.policy.verdict import Drop, Verdict
from streams.reasons import Reason

_EXPIRED = Drop(Reason.EXPIRED)


def expiry(context: Context) -> Verdict:
    """Drop what is over already, or would be before it may be sent; half-open."""
    return _EXPIRED if context.expires_at_ms <= context.earliest_ms else None
