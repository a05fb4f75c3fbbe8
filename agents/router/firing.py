"""The schedule: what is due goes through the rules again, exactly once through any crash."""

from collections import deque
from dataclasses import dataclass, field

from agents.poison import PoisonGuard
from agents.router.admission import ROLE
from agents.router.carrying import carry_out
from connectors.kafka.block import Writes
from connectors.kafka.transport import Transport
from streams.catalog import Catalog
from streams.policy import caps
from streams.policy.decide import reconsider, redelivery_of
from streams.policy.freshness import Freshness
from streams.reasons import Reason
from streams.records.codec import to_json
from streams.records.dead_letter import DeadLetter
from streams.records.decision import Decision
from streams.records.delivery import Delivery
from streams.records.delivery_event import event_of
from streams.records.source import Source
from streams.records.state import Row, Waiting
from streams.statuses import Status
from streams.topics import ACTIVE_CHANNELS, DEAD_LETTERS, LANES, SCHEDULE_NUMBER, TOPICS
from tables.schedule import Schedule
from tables.users import Users, UsersOfBlock

_TOPIC_NAMES = {topic.number: topic.full_name for topic in TOPICS}


@dataclass
class Firing:
    """Fires due rows of the partitions owned; a crash repeats the recorded decision."""

    transport: Transport
    catalog: Catalog
    users: Users
    schedule: Schedule
    freshness: Freshness
    poison: PoisonGuard
    rows_a_tick: int = 500  # of one partition, channel and lane
    _kept: dict[int, deque[tuple[str, Row]]] = field(default_factory=dict)

    def forget(self) -> None:
        """Drop what is kept in memory (after a revoke)."""
        self._kept.clear()
        self.schedule.forget()

    async def tick(self, now_ms: int) -> int:
        """Fire what is due on every partition whose inputs are caught up; returns how many rows."""
        fired: list[tuple[int, list[tuple[str, Row]]]] = []
        waits = []
        for partition in sorted(self.transport.owned()):
            if not self.transport.timers_open(partition):
                continue
            if partition not in self._kept:
                self._kept[partition] = deque()
                found = list(self.schedule.fired(partition))
                waits.append(self.transport.post(self._again(partition, found)))
                fired.append((partition, found))
            writes, rows = self._due(partition, now_ms)
            self._let_go(writes)
            if not writes.empty:
                waits.append(self.transport.post(writes))
            fired.append((partition, rows))
        for wait in waits:
            await wait
        for partition, rows in fired:
            self._kept.get(partition, deque()).extend(rows)  # durable outside: may leave once committed
        return sum(len(rows) for _, rows in fired)

    def _due(self, partition: int, now_ms: int) -> tuple[Writes, list[tuple[str, Row]]]:
        due = [
            found
            for lane in LANES
            for channel in ACTIVE_CHANNELS
            for found in self.schedule.due(partition, channel, lane, now_ms, self.rows_a_tick)
        ]
        writes, rows = Writes(partition), []
        if due:
            users = self.users.open(partition, (waiting.delivery.user_id.encode() for _, waiting in due))
            for due_ms, waiting in due:
                decisions = self._decide(writes, users, waiting, now_ms)
                rows.append((waiting.row, self.schedule.fire(writes, due_ms, waiting, decisions)))
            users.save(writes)
        return writes, rows

    def _decide(
        self, writes: Writes, users: UsersOfBlock, waiting: Waiting, now_ms: int
    ) -> tuple[Decision, ...]:
        delivery = waiting.delivery
        user = delivery.user_id.encode()
        facts = users.facts(user)
        outputs = Writes(writes.partition)
        try:
            decisions = reconsider(delivery, waiting.reason, facts, self.catalog, self.freshness, now_ms)
            held = caps.settle(facts.reservations, delivery, decisions, now_ms)
            self._carry(outputs, waiting.row, delivery, decisions)
        except Exception as error:  # our own code broke on it: it must not fire for ever
            self._bury(writes, delivery, error, now_ms)
            return ()
        users.hold(user, held)
        writes.add(outputs)
        return decisions

    def _bury(self, writes: Writes, delivery: Delivery, error: Exception, now_ms: int) -> None:
        self.poison.note(now_ms, 1, 1)
        key = delivery.user_id.encode()
        letter = DeadLetter(
            Reason.POISON,
            type(error).__name__,
            ROLE,
            "schedule",
            writes.partition,
            -1,
            key,
            to_json(delivery),
            now_ms,
        )
        writes.emit(DEAD_LETTERS, key, to_json(letter))
        writes.event(
            event_of(
                delivery, Status.FAILED, now_ms, attempt=delivery.attempt, seq=now_ms, reason=Reason.POISON
            )
        )

    def _carry(self, writes: Writes, row: str, delivery: Delivery, decisions: tuple[Decision, ...]) -> None:
        source = Source(SCHEDULE_NUMBER, row)
        for decision in decisions:
            carry_out(writes, self.schedule, redelivery_of(delivery, decision), decision, source, -1)

    def _again(self, partition: int, found: list[tuple[str, Row]]) -> Writes:
        """Repeat the outputs of rows that fired under an earlier owner: they may not have got out."""
        writes = Writes(partition)
        for row, entry in found:
            if entry.delivery is not None:
                self._carry(writes, row, entry.delivery, entry.fired)
        return writes

    def _let_go(self, writes: Writes) -> None:
        """Remove entries that no replay can need: their source is committed, or itself gone."""
        kept = self._kept[writes.partition]
        for _ in range(len(kept)):
            row, entry = kept.popleft()
            if self._replayable(writes.partition, entry):
                kept.append((row, entry))
            else:
                self.schedule.let_go(writes, row)

    def _replayable(self, partition: int, entry: Row) -> bool:
        if entry.source.topic == SCHEDULE_NUMBER:
            return self.schedule.is_kept(partition, str(entry.source.position))
        committed = self.transport.committed(_TOPIC_NAMES[entry.source.topic], partition)
        return entry.offset >= committed
