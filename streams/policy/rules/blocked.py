"""Erased users get nothing at all, blocked users only what is mandatory."""

from streams.policy.context import Context
from streams.policy.verdict import Drop, Verdict
from streams.reasons import Reason

_ERASED = Drop(Reason.ERASED)
_BLOCKED = Drop(Reason.BLOCKED)


def blocked(context: Context) -> Verdict:
    """Drop whatever goes to an erased user, or to a blocked one unless the type is mandatory."""
    profile = context.profile
    if profile is None:
        return None
    if profile.erased:
        return _ERASED
    return _BLOCKED if profile.blocked and not context.kind.mandatory else None
