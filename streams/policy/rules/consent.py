"""What the user chose: category and channel switched on or off, and consent where it is needed.

A type that needs consent fails closed: without a recorded yes nothing is sent. All others fail
open, and a mandatory type asks nobody (R-108…R-111, R-116).
"""

from streams.policy.choices import deciding
from streams.policy.context import Context
from streams.policy.verdict import Drop, Verdict
from streams.reasons import Reason

_OPTED_OUT = Drop(Reason.OPTED_OUT)
_NO_CONSENT = Drop(Reason.NO_CONSENT)


def consent(context: Context) -> Verdict:
    """Drop what the user opted out of, and what needs a consent that was never given (UNS-07)."""
    kind = context.kind
    if kind.mandatory:
        return None
    profile = context.profile
    if profile is None:  # an unknown user is waited for, unless the event brought an address
        return _NO_CONSENT if kind.needs_consent and context.endpoint is not None else None
    if profile.preferences and not all(deciding(profile.preferences, kind.category, context.channel)):
        return _OPTED_OUT
    if kind.needs_consent and not profile.consents.get(kind.category, False):
        return _NO_CONSENT
    return None
