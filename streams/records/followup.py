"""What comes back to the router: deliveries to decide again, and places under a cap to settle."""

from msgspec import Struct

from streams.reasons import Reason
from streams.records.delivery import Delivery


class Reconsider(Struct, frozen=True, gc=False, tag_field="kind", tag="reconsider"):
    """Decide this delivery again, not before `at_ms`; `reason` is why it came back."""

    delivery: Delivery
    at_ms: int
    reason: Reason


class Settle(Struct, frozen=True, gc=False, tag_field="kind", tag="settle"):
    """Release the notification's place under its cap: this delivery will not be sent.

    The place goes only with the last of the notification's deliveries (R-129).
    """

    user_id: str
    notification_id: str
    delivery_id: str
    channel: str


Followup = Reconsider | Settle
