"""Why an event was refused: public, so that a producer in any language learns it."""

from msgspec import Struct

from streams.reasons import Reason


class Rejection(Struct, frozen=True, gc=False):
    """One refused record with its coordinates; `pointer` is a JSON pointer into it."""

    reason: Reason
    pointer: str
    detail: str
    tenant: str
    notification_id: str
    idempotency_key: str
    topic: str
    partition: int
    offset: int
    rejected_at_ms: int
