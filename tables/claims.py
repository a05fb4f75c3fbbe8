"""What senders know of each delivery: the attempt under way, or the last one and what it said."""

from collections.abc import Callable

from connectors.kafka.block import Writes
from connectors.kafka.view import View
from streams.records.codec import state_claim, to_state
from streams.records.state import Claim
from streams.topics import CLAIMS

#: A closed claim outlives its delivery's expiry by this, so that a late replay still finds it.
KEPT_AFTER_EXPIRY_MS = 24 * 3_600_000


class Claims:
    """Claims by delivery id, one partition at a time."""

    def __init__(self, view: Callable[[str, int], View]) -> None:
        self._view = view

    def of(self, partition: int, delivery_id: str) -> Claim | None:
        """Return the delivery's claim, or None if no attempt was ever begun."""
        raw = self._view(CLAIMS, partition).get(delivery_id.encode())
        return None if raw is None else state_claim(raw)

    def save(self, writes: Writes, delivery_id: str, claim: Claim) -> None:
        """Keep a claim, open or closed."""
        writes.put(CLAIMS, delivery_id.encode(), to_state(claim))


def outlived(_: int, __: bytes, value: bytes, now_ms: int) -> bool:
    """Whether a claim may leave: it is closed, and its delivery expired a day ago."""
    claim = state_claim(value)
    return not claim.open and claim.expires_at_ms + KEPT_AFTER_EXPIRY_MS < now_ms
