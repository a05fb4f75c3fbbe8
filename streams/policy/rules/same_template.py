"""The same template again within the type's window says nothing new (R-133)."""

from streams.policy.context import Context
from streams.policy.verdict import Drop, Verdict
from streams.reasons import Reason

_DUPLICATE_CONTENT = Drop(Reason.DUPLICATE_CONTENT)


def same_template(context: Context) -> Verdict:
    """Drop what another notification says within the window, before or after; half-open."""
    window_ms = context.kind.same_template_ms
    if window_ms:
        template = context.kind.template
        for place in context.held:
            if (
                place.template == template
                and place.notification_id != context.notification_id
                and abs(place.at_ms - context.intended_ms) < window_ms
            ):
                return _DUPLICATE_CONTENT
    return None
