"""There must be somewhere to send to (R-138); a user nobody told us about is waited for, once."""

from streams.policy.context import Context
from streams.policy.verdict import Drop, Hold, Verdict
from streams.reasons import Reason

#: How long an event waits for the profile of a user we do not know.
PROFILE_WAIT_MS = 10_000

_NO_ENDPOINT = Drop(Reason.NO_ENDPOINT)
_INACTIVE = Drop(Reason.ENDPOINT_INACTIVE)


def endpoint(context: Context) -> Verdict:
    """Drop what has no usable endpoint; hold what may get one as soon as its user is known."""
    found = context.endpoint
    if found is not None:
        return None if found.active else _INACTIVE
    if context.profile is not None or context.since is Reason.AWAITING_PROFILE:
        return _NO_ENDPOINT
    if context.earliest_ms > context.now_ms:
        return None  # asked for later: looked for then
    return Hold(context.now_ms + PROFILE_WAIT_MS, Reason.AWAITING_PROFILE)
