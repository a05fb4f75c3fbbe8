"""How a worker takes its leases."""

from dataclasses import dataclass


@dataclass(frozen=True)
class LeaseSettings:
    """Times of asking, and how a silent Valkey is dealt with."""

    report_ms: int = 200  # what happened is told at least so often
    held_ms: int = 1_000  # tokens that nobody used for so long are given back
    answer_ms: int = 500  # an answer of Valkey that takes longer counts as none
    retry_ms: int = 500  # first pause before Valkey is asked again; doubles ...
    longest_retry_ms: int = 5_000  # ... up to this
