"""What only Kafka knows of some messages: refused, put aside, waiting, queued, not decided yet.

Each look reads a bounded range of one family of topics, of one partition where the user is known.
"""

from collections.abc import Iterable, Iterator

from msgspec import DecodeError, Struct
from msgspec.json import Decoder

from connectors.kafka.scan import Place, Scan, Stored
from harkara.questions.asked import Asked
from harkara.questions.story import Coordinates, Letter, Refusal
from streams.ids import partition_of
from streams.records.codec import (
    read_dead_letter,
    read_delivery,
    read_delivery_event,
    read_followup,
    read_rejection,
    state_admission,
    state_claim,
    state_waiting,
)
from streams.records.delivery import Delivery
from streams.records.delivery_event import DeliveryEvent
from streams.records.followup import Reconsider
from streams.records.state import Admission, Waiting
from streams.topics import (
    ACTIVE_CHANNELS,
    CLAIMS,
    DEAD_LETTERS,
    DELIVERIES,
    DELIVERY_EVENTS,
    FOLLOWUPS,
    INGEST,
    LANES,
    REJECTED,
    ROUTER_APP,
    SINK_APP,
    USER_STATE,
    changelog,
    sender_app,
)
from tables.keys import DEDUP, WAITING, parse_dedup, parse_waiting


class Body(Struct):
    """The little that is read of an event nobody has decided yet."""

    user_id: str = ""
    notification_id: str = ""
    idempotency_key: str = ""


_read_body = Decoder(Body).decode


class State(Struct):
    """What the router keeps: (user, first result), and (due instant, delivery that waits)."""

    admitted: list[tuple[str, Admission]]
    waiting: list[tuple[int, Waiting]]


class InKafka:
    """Looks for the records of one question."""

    def __init__(self, scan: Scan, asked: Asked) -> None:
        self._scan = scan
        self._asked = asked

    def rejected(self) -> list[Refusal]:
        """Events that were refused; as long as they are kept."""
        found = []
        for record in self._all(self._of_user([REJECTED.full_name])):
            told = read_rejection(record.value or b"")
            if self._is_about(record, told.notification_id, key=told.idempotency_key):
                source = Coordinates(told.topic, told.partition, told.offset)
                ids = (told.notification_id, told.idempotency_key)
                found.append(
                    Refusal(told.reason, told.pointer, told.detail, *ids, source, told.rejected_at_ms)
                )
        return found

    def dead_letters(self) -> list[Letter]:
        """Records that were put aside whole and mention what is asked about."""
        found = []
        for record in self._all(self._scan.places([DEAD_LETTERS.full_name])):
            letter = read_dead_letter(record.value or b"")
            if self._mentions(letter.key, letter.value):
                source = Coordinates(letter.topic, letter.partition, letter.offset)
                found.append(Letter(letter.reason, letter.error, letter.role, source, letter.at_ms))
        return found

    def state(self) -> State:
        """First results still kept, and deliveries that wait in the schedule."""
        rows: dict[bytes, bytes] = {}
        for record in self._all(self._of_user([changelog(ROUTER_APP, USER_STATE)])):
            if not record.key.startswith((DEDUP, WAITING)):
                continue
            if record.value is None:
                rows.pop(record.key, None)
            else:
                rows[record.key] = record.value
        found = State([], [])
        for key, value in rows.items():
            if key.startswith(DEDUP):
                user, hashed = parse_dedup(key)
                admission = state_admission(value)
                name = user.decode("utf-8", "replace")
                if hashed == self._asked.hash or self._asked.is_about(name, admission.notification_id):
                    found.admitted.append((name, admission))
            else:
                waiting = state_waiting(value)
                if self._about_delivery(waiting.delivery):
                    found.waiting.append((parse_waiting(key).due_ms, waiting))
        return found

    def queued(self) -> list[Delivery]:
        """Deliveries in a lane that no sender has acknowledged."""
        lanes = {
            sender_app(channel, lane): self._of_user([DELIVERIES[channel, lane].full_name])
            for channel in ACTIVE_CHANNELS
            for lane in LANES
        }
        deliveries = (read_delivery(record.value or b"") for record in self._beyond(lanes))
        return [delivery for delivery in deliveries if self._about_delivery(delivery)]

    def calling(self, deliveries: Iterable[str]) -> set[str]:
        """Those of these deliveries whose attempt was begun and has no end yet."""
        wanted = {one.encode() for one in deliveries}
        open_ones: set[str] = set()
        topics = [
            changelog(sender_app(channel, lane), CLAIMS) for channel in ACTIVE_CHANNELS for lane in LANES
        ]
        for record in self._all(self._of_user(topics)) if wanted else ():
            if record.key in wanted:
                name = record.key.decode()
                open_ones.discard(name)
                if record.value is not None and state_claim(record.value).open:
                    open_ones.add(name)
        return open_ones

    def returning(self) -> list[Delivery]:
        """Deliveries on their way back to the router."""
        found = []
        places = self._of_user([topic.full_name for topic in FOLLOWUPS.values()])
        for record in self._beyond({ROUTER_APP: places}):
            match read_followup(record.value or b""):
                case Reconsider(delivery=delivery) if self._about_delivery(delivery):
                    found.append(delivery)
        return found

    def not_stored_yet(self) -> list[DeliveryEvent]:
        """Events that are still on their way to ClickHouse."""
        found = []
        for record in self._beyond({SINK_APP: self._scan.places([DELIVERY_EVENTS.full_name])}):
            try:
                event = read_delivery_event(record.value or b"")
            except DecodeError:  # the sink will put it aside
                continue
            if self._about_delivery(event):
                found.append(event)
        return found

    def undecided(self) -> list[Coordinates]:
        """Events that arrived and that no router has acknowledged."""
        return self._events(self._beyond({ROUTER_APP: self._ingest()}))

    def received(self) -> list[Coordinates]:
        """Events that ever arrived, as long as they are kept: reads everything, so only as a last resort."""
        return self._events(self._all(self._ingest()))

    def _events(self, records: Iterator[Stored]) -> list[Coordinates]:
        found = []
        for record in records:
            if self._mentions(record.key, record.value or b""):
                try:
                    body = _read_body(record.value or b"")
                except DecodeError:
                    body = Body()
                if self._is_about(record, body.notification_id, key=body.idempotency_key):
                    found.append(Coordinates(record.topic, record.partition, record.offset))
        return found

    def _ingest(self) -> list[Place]:
        return self._scan.places([topic.full_name for topic in INGEST.values()])

    def _is_about(self, record: Stored, *ids: str, key: str) -> bool:
        return self._asked.is_about(record.key.decode("utf-8", "replace"), *ids, key=key)

    def _about_delivery(self, one: Delivery | DeliveryEvent) -> bool:
        return self._asked.is_about(one.user_id, one.notification_id, one.delivery_id)

    def _mentions(self, key: bytes, value: bytes) -> bool:
        if self._asked.whole_user:
            return key == self._asked.user.encode()
        return any(needle in value for needle in self._asked.needles)

    def _of_user(self, topics: list[str]) -> list[Place]:
        """The user's partition of each topic; all of them while the user is not known."""
        asked, counts = self._asked, {topic: self._scan.partitions(topic) for topic in topics}
        if asked.user:
            user = asked.user.encode()
            return [(topic, partition_of(user, count)) for topic, count in counts.items() if count]
        if asked.partition is not None:
            return [(topic, asked.partition) for topic, count in counts.items() if asked.partition < count]
        return self._scan.places(topics)

    def _all(self, places: list[Place]) -> Iterator[Stored]:
        return self._from(places, self._scan.starts(places))

    def _beyond(self, by_group: dict[str, list[Place]]) -> Iterator[Stored]:
        """What each group has not acknowledged of its places."""
        places = [place for own in by_group.values() for place in own]
        starts = self._scan.starts(places)
        for group, own in by_group.items():
            committed = self._scan.committed(group) if own else {}
            starts |= {place: max(committed.get(place, 0), starts[place]) for place in own}
        return self._from(places, starts)

    def _from(self, places: list[Place], starts: dict[Place, int]) -> Iterator[Stored]:
        ends = self._scan.ends(places)
        for batch in self._scan.read({place: (starts[place], ends[place]) for place in places}):
            yield from batch
