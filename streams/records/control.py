"""What operators and the demo set for all processes at once (topic `controls`, key = scope)."""

from msgspec import Struct


class ClockShift(Struct, frozen=True, gc=False, tag_field="control", tag="clock"):
    """Every process's clock runs this many milliseconds ahead of the wall."""

    offset_ms: int
    set_by: str = ""


Control = ClockShift
