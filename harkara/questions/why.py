"""Why a message was not sent, or not yet: everything ClickHouse and Kafka know, put together."""

from collections.abc import Iterable

from clickhouse_connect.driver.client import Client
from msgspec.structs import replace

from connectors.clickhouse.migrations import DATABASE
from connectors.clickhouse.stages import standing
from connectors.kafka.scan import Scan
from harkara.questions import history
from harkara.questions.asked import Asked
from harkara.questions.history import History, Known
from harkara.questions.in_kafka import InKafka
from harkara.questions.story import Answer, Coordinates, DeliveryStory, Fact, Repeat, Waits, sentence
from streams.ids import address_hash
from streams.records.delivery import Delivery
from streams.records.delivery_event import DeliveryEvent
from streams.records.state import Admission
from streams.statuses import Status
from streams.topics import BY_NAME, TOPICS

_NAMES = {topic.number: topic.full_name for topic in TOPICS}


class Why:
    """Answers for one installation."""

    def __init__(self, client: Client, scan: Scan, hash_key: bytes, database: str = DATABASE) -> None:
        self._client = client
        self._scan = scan
        self._hash_key = hash_key
        self._database = database

    def of(self, asked: Asked, last: int = 20) -> Answer:
        """Return all that is known; of a user, about the `last` notifications."""
        kafka = InKafka(self._scan, asked)
        if asked.key:
            self._find_by_key(asked, kafka)
        known = self._history(asked, last)
        if not asked.user:
            places = {one.partition for one in known.deliveries.values()}
            asked.partition = places.pop() if len(places) == 1 else None
        for event in kafka.not_stored_yet():
            _add_event(known, event)
        state, queued, returning = kafka.state(), kafka.queued(), kafka.returning()
        for delivery in (*[w.delivery for _, w in state.waiting], *queued, *returning):
            _add_delivery(known, delivery)
        waits = {w.delivery.delivery_id: Waits(due_ms, w.reason, w.rule) for due_ms, w in state.waiting}
        stories = _Stories(
            waits,
            {one.delivery_id for one in queued},
            kafka.calling(known.deliveries),
            {one.delivery_id for one in returning},
        )
        answer = Answer(
            "known",
            tuple(stories.of(one) for one in known.deliveries.values()),
            tuple(kafka.rejected()),
            tuple(kafka.dead_letters()),
            tuple(known.duplicates),
            _without(kafka.undecided(), state.admitted),
        )
        return _judged(answer, kafka, decided=bool(state.admitted))

    def _find_by_key(self, asked: Asked, kafka: InKafka) -> None:
        """The first result under the key names the user and the notification."""
        for user, admission in kafka.state().admitted:
            asked.user = user
            asked.ids.add(admission.notification_id)

    def _history(self, asked: Asked, last: int) -> History:
        if asked.whole_user:
            user_hash = address_hash(self._hash_key, asked.user)
            return history.of_user(self._client, user_hash, last, self._database)
        return history.of_ids(self._client, sorted(asked.ids), self._database)


def _without(
    places: Iterable[Coordinates], admitted: Iterable[tuple[str, Admission]]
) -> tuple[Coordinates, ...]:
    """Leave out what was decided although its acknowledgement is still under way."""
    decided = {(one.source.topic, one.src_partition, one.offset) for _, one in admitted}
    return tuple(p for p in places if (BY_NAME[p.topic].number, p.partition, p.offset) not in decided)


class _Stories:
    """Puts each delivery's facts and places together."""

    def __init__(
        self, waits: dict[str, Waits], queued: set[str], calling: set[str], returning: set[str]
    ) -> None:
        self._waits = waits
        self._queued = queued
        self._calling = calling
        self._returning = returning

    def of(self, known: Known) -> DeliveryStory:
        own = known.delivery_id
        facts = tuple(sorted(known.facts, key=lambda fact: (fact.at_ms, fact.attempt)))
        status = _status(known.channel, facts)
        waits = self._waits.get(own)
        queued, calling, returning = own in self._queued, own in self._calling, own in self._returning
        told = sentence(status, facts, waits, queued, calling, returning)
        return DeliveryStory(
            own, known.notification_id, known.tenant, known.type, known.lane, known.channel, status, told,
            waits, queued, calling, returning, facts,
        )  # fmt: skip


def _status(channel: str, facts: tuple[Fact, ...]) -> Status:
    standings = [standing(fact.status, channel, fact.attempt, fact.at_ms) for fact in facts]
    return max(standings).status if standings else Status.ACCEPTED


def _judged(answer: Answer, kafka: InKafka, decided: bool) -> Answer:
    """Name what was found; only when nothing was, everything that ever arrived is read."""
    if answer.deliveries or decided:
        return answer
    for verdict, found in (
        ("rejected", answer.rejected),
        ("dead_letter", answer.dead_letters),
        ("duplicate", answer.duplicates),
        ("undecided", answer.undecided),
    ):
        if found:
            return replace(answer, verdict=verdict)
    received = tuple(kafka.received())
    return replace(answer, verdict="lost" if received else "never_received", unexplained=received)


def _add_event(known: History, event: DeliveryEvent) -> None:
    if event.status is Status.DUPLICATE:
        source = Coordinates(_NAMES[event.src_topic], event.src_partition, event.src_offset)
        repeat = Repeat(event.notification_id, event.occurred_at_ms, source)
        if repeat not in known.duplicates:
            known.duplicates.append(repeat)
        return
    one = known.deliveries.get(event.delivery_id)
    if one is None:
        one = known.deliveries[event.delivery_id] = Known(
            event.delivery_id, event.notification_id, event.tenant, event.type, event.lane, event.channel,
            event.src_partition, [],
        )  # fmt: skip
    fact = Fact(
        event.occurred_at_ms, event.status, event.attempt, event.provider, event.rule, event.reason,
        event.error_code, event.until_ms, event.provider_message_id, event.latency_ms,
    )  # fmt: skip
    if fact not in one.facts:
        one.facts.append(fact)


def _add_delivery(known: History, d: Delivery) -> None:
    """A delivery that lies somewhere although none of its facts is known (yet)."""
    if d.delivery_id not in known.deliveries:
        known.deliveries[d.delivery_id] = Known(
            d.delivery_id, d.notification_id, d.tenant, d.type, d.lane, d.channel, d.src_partition, []
        )
