"""What a rule answers; None means it allows."""

from msgspec import Struct

from streams.reasons import Reason


class Drop(Struct, frozen=True, gc=False):
    """This delivery is not to be sent."""

    reason: Reason


class Hold(Struct, frozen=True, gc=False):
    """Not before this instant; then all rules run again."""

    until_ms: int
    reason: Reason


Verdict = Drop | Hold | None
