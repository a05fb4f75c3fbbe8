"""What could not be processed: the original bytes, where they came from and why."""

from msgspec import Struct

from streams.reasons import Reason


class DeadLetter(Struct, frozen=True, gc=False):
    """Original key and value (base64 in JSON), coordinates, reason and the role that gave up."""

    reason: Reason
    error: str
    role: str
    topic: str
    partition: int
    offset: int
    key: bytes
    value: bytes
    at_ms: int
    headers: tuple[tuple[str, bytes], ...] = ()
