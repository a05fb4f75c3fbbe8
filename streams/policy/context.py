"""All that a rule may look at: one value for one delivery."""

from msgspec import Struct

from streams.catalog import NotificationType
from streams.policy.endpoints import Endpoint
from streams.reasons import Reason
from streams.records.decision import Reservation
from streams.records.state import Profile


class Context(Struct, frozen=True, gc=False):
    """One delivery about to be decided.

    `earliest_ms` is now, or later if the producer asked for it; `intended_ms` is that instant
    moved to the end of the quiet hours it falls in. `since` is why the delivery comes back, None
    at its admission. `endpoint` is None as long as the user has none on the channel.
    """

    kind: NotificationType
    profile: Profile | None
    held: tuple[Reservation, ...]
    notification_id: str
    channel: str
    endpoint: Endpoint | None
    zone: str  # the user's present one
    now_ms: int
    earliest_ms: int
    intended_ms: int
    expires_at_ms: int
    since: Reason | None = None
