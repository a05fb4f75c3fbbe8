"""What follows an attempt: a repeat at once, a later one, or the end.

Waits are derived from the delivery, never drawn, so that a replay waits alike; jitter is full, so
that what failed together does not return together (R-187, RST-03). Nothing is repeated past its
expiry.
"""

from msgspec import Struct

from streams.catalog import NotificationType, RetryPlan, UnknownPolicy
from streams.catalog.retry import STANDARD
from streams.ids import spread
from streams.outcomes import (
    Accepted,
    EndpointGone,
    Misconfigured,
    Outcome,
    Rejected,
    Throttled,
    Unavailable,
    Unknown,
)
from streams.reasons import Reason
from streams.records.delivery import Delivery
from streams.statuses import Status

#: Never at once (R-188).
LEAST_WAIT_MS = 100
#: A repeat in place comes within a second.
IN_PLACE_MS = 1_000
#: How long a delivery stays away from a provider whose account or credentials are broken.
MISCONFIGURED_MS = 30_000


class Retry(Struct, frozen=True, gc=False):
    """Call again in place, after this short wait."""

    after_ms: int
    reason: Reason


class Later(Struct, frozen=True, gc=False):
    """Give it back to the router until this instant. `counts`: the attempt counts towards the maximum."""

    at_ms: int
    reason: Reason
    counts: bool = True


class Final(Struct, frozen=True, gc=False):
    """The delivery ends in this status; `dead_letter` puts its record aside for a person."""

    status: Status
    reason: Reason | None = None
    error_code: str = ""
    dead_letter: bool = False


NextStep = Retry | Later | Final


def next_step(outcome: Outcome, delivery: Delivery, kind: NotificationType | None, now_ms: int) -> NextStep:
    """Return what follows; `delivery.attempt` is the attempt that was made.

    `kind` is None for a type the catalog no longer has: then the standard plan applies and an
    unknown outcome is given up. `wait` and `query` of a type are treated as `give_up` as long as
    there are no receipts: the delivery ends as `unknown`, and is not called again.
    """
    match outcome:
        case Accepted():
            return Final(Status.SENT)
        case EndpointGone(code=code):
            return Final(Status.FAILED, Reason.ENDPOINT_GONE, code)
        case Rejected(reason=reason, code=code, permanent=True):
            return Final(Status.FAILED, reason, code, dead_letter=True)
        case Rejected(reason=reason, code=code):
            return _again(delivery, kind, reason, code, 0, now_ms)
        case Unavailable(code=code, after_ms=after_ms):
            return _again(delivery, kind, Reason.TRANSIENT, code, after_ms, now_ms)
        case Throttled(code=code, after_ms=after_ms):
            return _again(delivery, kind, Reason.THROTTLED, code, after_ms, now_ms)
        case Misconfigured(code=code):
            return _paused(delivery, code, now_ms)
        case Unknown(code=code):
            return _unknown(delivery, kind, code, now_ms)


def _again(
    delivery: Delivery, kind: NotificationType | None, reason: Reason, code: str, after_ms: int, now_ms: int
) -> NextStep:
    """Repeat after the plan's wait, the provider's own `Retry-After` as a floor."""
    plan = kind.retry if kind is not None else STANDARD
    counted = delivery.attempt - delivery.uncounted
    if counted >= (kind.attempts if kind is not None else plan.attempts):
        return Final(Status.FAILED, Reason.ATTEMPTS_EXHAUSTED, code, dead_letter=True)
    seed = f"{delivery.delivery_id}.{delivery.attempt}"
    if delivery.attempt <= plan.in_place and after_ms < IN_PLACE_MS - LEAST_WAIT_MS:
        least_ms = max(after_ms, LEAST_WAIT_MS)
        wait_ms = least_ms + spread(seed, IN_PLACE_MS - least_ms)
    else:
        wait_ms = max(after_ms, LEAST_WAIT_MS) + spread(seed, _bound_ms(plan, counted))
    if now_ms + wait_ms >= delivery.expires_at_ms:
        return Final(Status.EXPIRED, Reason.EXPIRED, code)
    return (
        Retry(wait_ms, reason)
        if wait_ms < IN_PLACE_MS and delivery.attempt <= plan.in_place
        else Later(now_ms + wait_ms, reason)
    )


def _bound_ms(plan: RetryPlan, counted: int) -> int:
    """Return how long the wait after this many attempts may be."""
    return min(plan.cap_ms, plan.base_ms << min(max(counted - 1, 0), 30))


def _paused(delivery: Delivery, code: str, now_ms: int) -> NextStep:
    """Stay away for a while without using up an attempt: the fault is ours, not the message's (R-181)."""
    seed = f"{delivery.delivery_id}.{delivery.attempt}"
    at_ms = now_ms + MISCONFIGURED_MS + spread(seed, MISCONFIGURED_MS)
    if at_ms >= delivery.expires_at_ms:
        return Final(Status.EXPIRED, Reason.EXPIRED, code)
    return Later(at_ms, Reason.PROVIDER_MISCONFIGURED, counts=False)


def _unknown(delivery: Delivery, kind: NotificationType | None, code: str, now_ms: int) -> NextStep:
    """Repeat only if the type accepts that the user may get it twice (R-198).

    When no repeat is left the end is `unknown`, not `failed` or `expired`: it may have arrived.
    """
    given_up = Final(Status.UNKNOWN, Reason.UNKNOWN, code)
    if kind is None or kind.unknown is not UnknownPolicy.RESEND:
        return given_up
    step = _again(delivery, kind, Reason.UNKNOWN, code, 0, now_ms)
    return given_up if isinstance(step, Final) else step
