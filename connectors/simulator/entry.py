"""What the ledger remembers of one call."""

from msgspec import Struct


class Entry(Struct, frozen=True, gc=False):
    """One call as it arrived and was answered.

    `accepted` is the truth about the user: the message went out, whatever the caller was told.
    """

    seq: int  # 0, 1, 2, … over restarts
    provider: str
    address: str
    delivery_id: str  # from FCM's data.delivery_id or Twilio's StatusCallback; "": none given
    arrival: int  # the delivery's first call is 1; two of one delivery are two arrivals
    attempt_key: str  # the caller's Idempotency-Key header, "" as a rule: no such provider takes one
    at_ms: int  # wall clock, when the call had arrived whole
    accepted: bool
    answer: str  # what the caller was told: "200", "429 QUOTA_EXCEEDED", "reset", "hang"
    message_id: str  # "" when it was not accepted
    text_hash: str
    text: str


class Page(Struct, frozen=True):
    """Some entries, and where to go on: `after` for the next page, None at the end."""

    entries: list[Entry]
    after: int | None


class Counts(Struct, frozen=True):
    """The whole ledger in numbers."""

    calls: int
    accepted: int  # messages that went out
    deliveries: int  # different deliveries among them
    repeated: int  # deliveries that went out more than once
