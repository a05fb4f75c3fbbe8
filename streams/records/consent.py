"""The consent ledger: who allowed what, when, by which evidence; kept for ever."""

from msgspec import Struct


class ConsentEntry(Struct, frozen=True, gc=False):
    """One change of consent or preference, as it was applied."""

    user_id: str
    category: str
    channel: str
    allowed: bool
    at_ms: int
    source: str
    evidence: str
    src_partition: int
    src_offset: int
