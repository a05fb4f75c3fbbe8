"""Whether a queued delivery was stopped since it was decided: the sender's last look."""

from streams.policy.choices import deciding
from streams.reasons import Reason
from streams.records.delivery import Delivery
from streams.records.state import Stops


def stopped(stops: Stops | None, delivery: Delivery) -> Reason | None:
    """Return why the delivery must not be sent any more, or None.

    A mandatory type heeds only a cancellation of its own notification and the user's erasure.
    """
    if stops is None:
        return None
    if delivery.notification_id in stops.cancelled:
        return Reason.CANCELLED
    if stops.erased_at_ms:
        return Reason.ERASED
    if delivery.mandatory:
        return None
    if stops.blocked_at_ms:
        return Reason.BLOCKED
    if stops.opted_out:
        choices = deciding(stops.opted_out, delivery.category, delivery.channel)
        if any(at_ms > 0 for at_ms in choices):
            return Reason.OPTED_OUT
    return None
