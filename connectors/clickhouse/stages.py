"""How a status is named and ranked in analytics, and which of a delivery's facts is its present one.

Published in docs/analytics.md; the numbers are the values of the column `stage`, so a rank is never
given to another stage. Multiples of five: bit `rank / 5` stands for the stage in `delivery_state`.
"""

from typing import Final, NamedTuple

from streams.statuses import Status
from streams.topics import Channel


class Stage(NamedTuple):
    """A status as the column `stage` spells it, with its rank."""

    name: str
    rank: int


#: Open statuses rank below settled ones, settled ones without a send below sent and its receipts.
STAGES: Final[dict[Status, Stage]] = {
    Status.DUPLICATE: Stage("duplicate", 5),
    Status.ACCEPTED: Stage("accepted", 10),
    Status.QUEUED: Stage("planned", 20),
    Status.DEFERRED: Stage("deferred", 25),
    Status.SENDING: Stage("attempted", 30),
    Status.UNKNOWN: Stage("unknown", 35),
    Status.MERGED: Stage("merged", 40),
    Status.SUPPRESSED: Stage("suppressed", 45),
    Status.EXPIRED: Stage("expired", 50),
    Status.CANCELLED: Stage("cancelled", 55),
    Status.FAILED: Stage("failed", 60),
    Status.SENT: Stage("sent", 70),
    Status.BOUNCED: Stage("bounced", 75),
    Status.DELIVERED: Stage("delivered", 80),
    Status.READ: Stage("read", 90),
    Status.CLICKED: Stage("clicked", 100),
}
RANKS: Final[dict[Status, int]] = {status: stage.rank for status, stage in STAGES.items()}

#: An unknown outcome may still be tried again, so it settles nothing by its rank alone.
_FIRST_SETTLED: Final = RANKS[Status.MERGED]
#: On e-mail a bounce comes after an acceptance; it beats `delivered`, but not that somebody read it.
_EMAIL_BOUNCE: Final = 85


class Standing(NamedTuple):
    """A fact's claim to be the delivery's present one: of all its facts the greatest holds.

    The same tuple, in the same order, as `delivery_state.standing`.
    """

    weight: int
    attempt: int
    unknown: int
    moment: int  # ms; negative once settled, so that the first of repeated receipts holds
    rank: int

    @property
    def status(self) -> Status:
        """The status this standing stands for."""
        return _BY_RANK[self.rank]


def standing(status: Status, channel: str, attempt: int, occurred_at_ms: int) -> Standing:
    """Return a fact's standing; needed where facts are compared that are not in ClickHouse yet."""
    rank = RANKS[status]
    if rank < _FIRST_SETTLED:
        return Standing(0, attempt, status is Status.UNKNOWN, occurred_at_ms, rank)
    bounced_mail = status is Status.BOUNCED and channel == Channel.EMAIL
    return Standing(_EMAIL_BOUNCE if bounced_mail else rank, attempt, 0, -occurred_at_ms, rank)


_BY_RANK: Final[dict[int, Status]] = {rank: status for status, rank in RANKS.items()}
