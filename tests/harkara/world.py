"""A small installation written by hand: topics, changelogs, committed offsets, and rows in ClickHouse."""

import itertools
from dataclasses import dataclass, field

import msgspec
from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]  # not in its __all__

from connectors.kafka.scan import Scan
from streams.ids import delivery_id, key_hash, partition_of, row_id
from streams.reasons import Reason
from streams.records.codec import to_json, to_state
from streams.records.decision import Decision, Defer, Deliver, Suppress, Target
from streams.records.delivery import Delivery
from streams.records.delivery_event import DeliveryEvent, event_of
from streams.records.followup import Followup
from streams.records.source import Source
from streams.records.state import Admission, Claim, Row, Waiting
from streams.statuses import Status
from streams.topics import (
    CLAIMS,
    DEAD_LETTERS,
    DELIVERIES,
    DELIVERY_EVENTS,
    FOLLOWUPS,
    INGEST,
    REJECTED,
    ROUTER_APP,
    SINK_APP,
    USER_STATE,
    Channel,
    Lane,
    changelog,
    sender_app,
)
from tables.keys import dedup_key, row_key, waiting_key
from tests.connectors.clickhouse.conftest import Analytics
from tests.connectors.clickhouse.lives import START_MS

LANE = Lane.TRANSACTIONAL
INGESTED = INGEST[LANE].full_name
STATE = changelog(ROUTER_APP, USER_STATE)
SENDER = sender_app(Channel.PUSH, LANE)
SENDER_CLAIMS = changelog(SENDER, CLAIMS)
LANE_TOPIC = DELIVERIES[Channel.PUSH, LANE].full_name
PARTITIONS = 2


@dataclass
class World:
    """Writes what the roles would write, as records of one namespace."""

    bootstrap: str
    namespace: str
    analytics: Analytics
    stored: bool = True  # whether the sink keeps up
    _numbers: "itertools.count[int]" = field(default_factory=itertools.count)
    _ends: dict[tuple[str, int], int] = field(default_factory=dict)
    _unstored: list[DeliveryEvent] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._admin = AdminClient({"bootstrap.servers": self.bootstrap})
        self._producer = Producer({"bootstrap.servers": self.bootstrap, "linger.ms": 1})
        names = [INGESTED, STATE, SENDER_CLAIMS, LANE_TOPIC, FOLLOWUPS[LANE].full_name]
        names += [REJECTED.full_name, DEAD_LETTERS.full_name, DELIVERY_EVENTS.full_name]
        topics = [NewTopic(self.namespace + name, PARTITIONS, 1) for name in names]
        for future in self._admin.create_topics(topics).values():
            future.result()

    def scan(self) -> Scan:
        """Flush, store and look."""
        self._producer.flush()
        if self._unstored:
            self.analytics.writer.write(self._unstored)
            self._unstored.clear()
        return Scan(self.bootstrap, self.namespace)

    def put(
        self, topic: str, user: str, key: bytes, value: bytes | None, headers: dict[str, bytes] | None = None
    ) -> tuple[int, int]:
        """Write a record to the user's partition; returns partition and offset."""
        partition = partition_of(user.encode(), PARTITIONS)
        offset = self._ends.get((topic, partition), 0)
        self._ends[topic, partition] = offset + 1
        self._producer.produce(
            self.namespace + topic, value, key, partition=partition, headers=list((headers or {}).items())
        )
        return partition, offset

    def commit(self, group: str, *topics: str) -> None:
        """Acknowledge all that was written to these topics so far."""
        places = [
            TopicPartition(self.namespace + topic, partition, end)
            for (topic, partition), end in self._ends.items()
            if topic in topics
        ]
        if not places:
            return
        asked = [ConsumerGroupTopicPartitions(self.namespace + group, places)]
        for left in reversed(range(4)):  # the first group of a fresh broker waits for its own topic
            try:
                for future in self._admin.alter_consumer_group_offsets(asked, request_timeout=10).values():
                    future.result()
                return
            except KafkaException:
                if left == 0:
                    raise

    def commit_all(self) -> None:
        """Every role has acknowledged everything."""
        self.commit(ROUTER_APP, INGESTED, FOLLOWUPS[LANE].full_name)
        self.commit(SENDER, LANE_TOPIC)
        self.commit(SINK_APP, DELIVERY_EVENTS.full_name)

    # -- what arrives and is decided ----------------------------------------------------------

    def receive(self, user: str, notification: str = "", key: str = "", **headers: bytes) -> Delivery:
        """Let an event arrive; returns its one push delivery, as the router would make it."""
        notification = notification or f"n-{next(self._numbers)}"
        body = {
            "user_id": user,
            "type": "order_shipped",
            "notification_id": notification,
            "idempotency_key": key,
        }
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        partition, offset = self.put(INGESTED, user, user.encode(), msgspec.json.encode(body), named)
        return Delivery(
            delivery_id=delivery_id("default", user, notification, 0, "push", "phone"),
            notification_id=notification, tenant="default", user_id=user,
            type="order_shipped", category="orders",
            lane="transactional", channel="push", endpoint="phone", address="token", template="order_shipped",
            version=1, locale="en", data={}, cohort_at_ms=START_MS, decided_at_ms=START_MS,
            send_until_ms=START_MS + 60_000, expires_at_ms=START_MS + 3_600_000,
            src_topic=INGEST[LANE].number, src_partition=partition, src_offset=offset,
        )  # fmt: skip

    def admit(self, d: Delivery, decision: Decision, key: str = "", origin: str = "") -> None:
        """Keep the first result."""
        source = Source(d.src_topic, origin or d.src_offset)
        admission = Admission(
            source,
            d.src_partition,
            7,
            d.notification_id,
            START_MS,
            START_MS + 86_400_000,
            (decision,),
            d.src_offset,
        )
        row = dedup_key(d.user_id.encode(), key_hash("default", key or d.notification_id))
        self.put(STATE, d.user_id, row, to_state(admission))

    def queue(self, d: Delivery, key: str = "", origin: str = "") -> Delivery:
        """Decide to send now, and hand it to the lane."""
        self.admit(d, Deliver(_target(d), START_MS, d.send_until_ms), key, origin)
        self.put(LANE_TOPIC, d.user_id, d.user_id.encode(), to_json(d))
        self.tell(event_of(d, Status.QUEUED, START_MS, attempt=1, seq=START_MS))
        return d

    def defer(self, d: Delivery, until_ms: int, reason: Reason, key: str = "") -> Delivery:
        """Decide to wait, and put it into the schedule."""
        row = row_id(d.delivery_id, 1, until_ms)
        self.admit(d, Defer(_target(d), START_MS, until_ms, reason, str(reason)), key)
        entry = Row("w", Source(d.src_topic, d.src_offset), d.src_partition, until_ms, d.channel, d.lane)
        self.put(STATE, d.user_id, row_key(row), to_state(entry))
        waiting = Waiting(d, reason, str(reason), row)
        self.put(STATE, d.user_id, waiting_key(d.channel, d.lane, until_ms, row), to_state(waiting))
        self.tell(
            event_of(
                d,
                Status.DEFERRED,
                START_MS,
                attempt=1,
                seq=START_MS,
                rule=reason,
                reason=reason,
                until_ms=until_ms,
            )
        )
        return d

    def suppress(self, d: Delivery, reason: Reason) -> Delivery:
        """Decide not to send."""
        self.admit(d, Suppress(_target(d), START_MS, reason, "consent"))
        self.tell(
            event_of(d, Status.SUPPRESSED, START_MS, attempt=1, seq=START_MS, rule="consent", reason=reason)
        )
        return d

    def put_state(self, user: str, key: bytes, value: bytes | None) -> None:
        """Write a row of the router's state, or its tombstone."""
        self.put(STATE, user, key, value)

    def forget(self, d: Delivery, key: str = "") -> None:
        """Remove a first result."""
        row = dedup_key(d.user_id.encode(), key_hash("default", key or d.notification_id))
        self.put(STATE, d.user_id, row, None)

    def waiting_key(self, d: Delivery, until_ms: int) -> bytes:
        """Name a delivery's row in the schedule."""
        return waiting_key(d.channel, d.lane, until_ms, row_id(d.delivery_id, 1, until_ms))

    # -- what senders do ----------------------------------------------------------------------

    def claim(self, d: Delivery, event: DeliveryEvent | None, final: bool = True, attempt: int = 1) -> None:
        """Begin an attempt (no event), or close it with its event."""
        claim = Claim(
            attempt, event is None, "fcm", START_MS, d.expires_at_ms, 0, event is not None and final
        )
        if event is not None:
            claim = msgspec.structs.replace(claim, event=to_json(event))
        self.put(SENDER_CLAIMS, d.user_id, d.delivery_id.encode(), to_state(claim))

    def send(self, d: Delivery, message: str = "", attempt: int = 1) -> Delivery:
        """Send it: claim, call, close, tell."""
        event = msgspec.structs.replace(
            event_of(d, Status.SENT, START_MS + 100, attempt=attempt),
            provider="fcm",
            provider_message_id=message or f"m-{d.delivery_id}",
        )
        self.claim(d, None, attempt=attempt)
        self.claim(d, event, attempt=attempt)
        self.tell(event)
        return d

    def come_back(self, d: Delivery, followup: Followup) -> None:
        """Hand it back to the router."""
        self.put(FOLLOWUPS[LANE].full_name, d.user_id, d.user_id.encode(), to_json(followup))

    def tell(self, event: DeliveryEvent) -> None:
        """Write an event to the feed, and to ClickHouse if the sink keeps up."""
        self.put(DELIVERY_EVENTS.full_name, event.user_id, event.delivery_id.encode(), to_json(event))
        if self.stored:
            self._unstored.append(event)


def _target(d: Delivery) -> Target:
    return Target(d.delivery_id, d.channel, d.endpoint, d.address)
