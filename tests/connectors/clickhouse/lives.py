"""Lives of deliveries as the pipeline writes them, each with what is true of it in the end."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from uuid import UUID

from msgspec.structs import replace

from streams.records.delivery_event import DeliveryEvent
from streams.statuses import Status

HOUR_MS = 3_600_000
DAY = 24 * HOUR_MS
#: Near now, so that no row is older than what is kept; a whole hour.
START_MS = 1_796_083_200_000
PROVIDERS = {"push": ("fcm", ""), "sms": ("twilio", "USD"), "email": ("ses", "EUR")}
REACHED = {
    Status.SENT: {"sent"},
    Status.BOUNCED: {"sent", "bounced"},
    Status.DELIVERED: {"sent", "delivered"},
    Status.READ: {"sent", "delivered", "read"},
    Status.CLICKED: {"sent", "delivered", "read", "clicked"},
}
COUNTED = (
    *("pending", "sent", "delivered", "read", "clicked", "bounced", "failed", "expired"),
    *("suppressed", "cancelled", "merged", "unknown"),
)
OPEN = {Status.ACCEPTED, Status.QUEUED, Status.DEFERRED, Status.SENDING}


@dataclass
class Life:
    """One delivery's facts in the order they happened, and the truth about it."""

    events: list[DeliveryEvent]
    ends: Status
    cost: int = 0
    columns: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.columns = {"pending"} if self.ends in OPEN else REACHED.get(self.ends, {str(self.ends)})


def event(status: Status, at_ms: int = START_MS, **fields: object) -> DeliveryEvent:
    """Return an event with everything filled in that a test does not care about."""
    plain = DeliveryEvent(
        delivery_id="00000000-0000-0000-0000-000000000001",
        notification_id="n-1",
        tenant="default",
        user_id="user-1",
        status=status,
        type="order_shipped",
        category="orders",
        lane="transactional",
        channel="push",
        cohort_at_ms=START_MS,
        occurred_at_ms=at_ms,
        template="order_shipped",
        version=1,
    )
    return replace(plain, **fields)


def lives(dice: random.Random, count: int, hours: int = 3) -> Iterator[Life]:
    """Return deliveries of every course the pipeline knows, admitted over some hours."""
    for n in range(count):
        channel = dice.choice(list(PROVIDERS))
        first = event(
            Status.QUEUED,
            delivery_id=str(UUID(int=dice.getrandbits(128))),
            notification_id=f"n-{n}",
            user_id=f"user-{dice.randrange(count // 10 + 1)}",
            channel=channel,
            lane=dice.choice(["critical", "transactional", "bulk"]),
            campaign_id=dice.choice(["", "spring"]),
            cohort_at_ms=START_MS + dice.randrange(hours * HOUR_MS),
            src_topic=1,
            src_offset=n,
        )
        yield _Course(dice, first).run()


class _Course:
    """Walks one delivery through a random course."""

    def __init__(self, dice: random.Random, first: DeliveryEvent) -> None:
        self._dice = dice
        self._first = first
        self._at = first.cohort_at_ms
        self._attempt = 1
        self._life: list[DeliveryEvent] = []
        self._cost = 0

    def run(self) -> Life:
        for _ in range(self._dice.choice([0, 0, 1, 2])):
            self._tell(Status.DEFERRED, reason="quiet_hours", rule="quiet_hours")
        ended = self._dice.choice(
            [Status.SUPPRESSED, Status.EXPIRED, Status.CANCELLED, Status.MERGED, None, None, None]
        )
        if ended is not None:
            return self._end(ended, reason="opted_out", rule="consent")
        if self._dice.random() < 0.1:
            return self._end(Status.DEFERRED, reason="cap_reached")
        self._tell(Status.QUEUED)
        while self._dice.random() < 0.3 and self._attempt < 5:
            status = self._dice.choice([Status.SENDING, Status.SENDING, Status.UNKNOWN])
            self._tell(status, reason="transient", provider=self._provider, latency_ms=30)
            self._attempt += 1
            self._tell(Status.DEFERRED, reason="transient", rule="sender")
            self._tell(Status.QUEUED)
        return self._last()

    def _last(self) -> Life:
        ends = self._dice.choice(
            [Status.QUEUED, Status.UNKNOWN, Status.FAILED, Status.EXPIRED, *[Status.SENT] * 6]
        )
        if ends is not Status.SENT:
            provider = self._provider if ends in (Status.UNKNOWN, Status.FAILED) else ""
            return self._end(ends, provider=provider, reason="" if ends is Status.QUEUED else "rejected")
        self._cost = self._dice.randrange(1, 5000)
        self._tell(
            Status.SENT,
            provider=self._provider,
            cost_micros=self._cost,
            currency=PROVIDERS[self._first.channel][1],
            latency_ms=20,
            provider_message_id=f"m-{self._first.delivery_id}",
        )
        return self._receipts()

    def _receipts(self) -> Life:
        """Late, repeated, out of order; a person who clicks may never have been seen to read."""
        ends = Status.SENT
        if self._first.channel == "email" and self._dice.random() < 0.1:
            self._tell(Status.DELIVERED, provider=self._provider)
            return self._end(Status.BOUNCED, provider=self._provider)
        for status in (Status.DELIVERED, Status.READ, Status.CLICKED):
            if self._dice.random() < 0.5:
                ends = status
                for _ in range(self._dice.choice([1, 1, 3])):
                    self._tell(status, provider=self._provider)
        return Life(self._life, ends, self._cost)

    @property
    def _provider(self) -> str:
        return PROVIDERS[self._first.channel][0]

    def _tell(self, status: Status, **fields: object) -> None:
        self._at += self._dice.randrange(1, 2_000)
        seq = self._at if status in OPEN else 0
        told = {"attempt": self._attempt, "seq": seq, "occurred_at_ms": self._at} | fields
        self._life.append(replace(self._first, status=status, **told))

    def _end(self, status: Status, **fields: object) -> Life:
        self._tell(status, **fields)
        return Life(self._life, status, self._cost)


def duplicates(dice: random.Random, count: int, hours: int = 3) -> list[DeliveryEvent]:
    """Return repeats of events, as the router tells them: without a delivery."""
    return [
        event(
            Status.DUPLICATE,
            delivery_id=f"harkara.ingest.bulk/0/{n}",
            notification_id=f"n-{n}",
            channel="",
            cohort_at_ms=(at := START_MS + dice.randrange(hours * HOUR_MS)),
            occurred_at_ms=at,
            src_offset=n,
        )
        for n in range(count)
    ]
