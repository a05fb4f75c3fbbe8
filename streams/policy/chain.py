"""The rules in their order: the first that does not allow decides."""

from collections.abc import Callable

from streams.policy.context import Context
from streams.policy.rules.blocked import blocked
from streams.policy.rules.cap import cap
from streams.policy.rules.consent import consent
from streams.policy.rules.endpoint import endpoint
from streams.policy.rules.expiry import expiry
from streams.policy.rules.quiet_hours import quiet_hours
from streams.policy.rules.same_template import same_template
from streams.policy.rules.scheduled import scheduled
from streams.policy.verdict import Drop, Hold, Verdict
from streams.reasons import Reason

Rule = Callable[[Context], Verdict]

#: What can never be sent comes before what costs a place, and both before what only waits: a cap's
#: "no" beats quiet hours' "later".
RULES: tuple[Rule, ...] = (
    expiry,
    blocked,
    consent,
    endpoint,
    same_template,
    cap,
    quiet_hours,
    scheduled,
)

_EXPIRED = Drop(Reason.EXPIRED)


def verdict_of(context: Context) -> tuple[Verdict, str]:
    """Return the chain's verdict and the name of the rule that gave it ("" if all allow).

    Nothing waits past its expiry: a hold that would is a drop (`expired`).
    """
    for rule in RULES:
        verdict = rule(context)
        if verdict is not None:
            if isinstance(verdict, Hold) and verdict.until_ms >= context.expires_at_ms:
                verdict = _EXPIRED
            return verdict, rule.__name__
    return None, ""
