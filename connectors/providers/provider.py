"""The contract of a provider: one call in, one outcome out.

A provider knows its wire format and its answers and nothing else: no lease, breaker, retry or
metric (the route wraps those). Network errors become outcomes; it never retries by itself.
"""

from typing import Protocol

from msgspec import Struct

from streams.outcomes import Outcome
from streams.rendering.message import Message


class Call(Struct, frozen=True, gc=False):
    """All a provider needs for one attempt.

    `idempotency_key` is the delivery id: stable over attempts (R-078). `expires_at_ms` and
    `now_ms` are on the same clock; the provider turns them into its own time-to-live.
    """

    delivery_id: str
    idempotency_key: str
    address: str
    message: Message
    now_ms: int
    expires_at_ms: int
    collapse_key: str = ""


class Provider(Protocol):
    """One account at one provider."""

    name: str  # "fcm": what analytics and settings call it
    channel: str
    account: str  # rate limits and breakers belong to (provider, account)

    async def send(self, call: Call) -> Outcome:
        """Make one attempt; never raises for what the provider or the network does."""
        ...

    async def close(self) -> None:
        """Give back connections."""
        ...
