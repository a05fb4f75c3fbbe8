"""Ingest: each event is decided once; a copy gets the first result, a replay the same outputs."""

from dataclasses import dataclass

from msgspec.structs import replace

from agents.poison import PoisonGuard
from agents.router.carrying import carry_out
from agents.tally import Tally
from connectors.kafka.block import Block, Record, Writes
from streams.catalog import Catalog
from streams.ids import key_hash
from streams.metrics import DECISIONS, EVENTS_CONSUMED, REKEYED, SET_ASIDE
from streams.policy import caps
from streams.policy.admission import ORIGIN_HEADER, Request, read_request
from streams.policy.decide import decide, delivery_of
from streams.policy.freshness import Freshness
from streams.reasons import Reason
from streams.records.decision import Deliver
from streams.records.delivery_event import DeliveryEvent
from streams.records.rejection import Rejection
from streams.records.state import Admission
from streams.records.unfit import Foreign, Unfit
from streams.statuses import Status
from streams.topics import BY_NAME
from tables.dedup import row_of
from tables.schedule import Schedule
from tables.users import Users, UsersOfBlock

ROLE = "router"
#: By which a producer may name itself; only for the count of records on a foreign partition.
CLIENT_HEADER = "harkara-client"


@dataclass(frozen=True)
class Admitting:
    """Decides the events of a block."""

    catalog: Catalog
    users: Users
    schedule: Schedule
    freshness: Freshness
    partitions: int
    poison: PoisonGuard
    tally: Tally

    def admit(self, block: Block, now_ms: int) -> Writes:
        """All that these records change and emit; no await, so nothing interleaves."""
        writes = Writes(block.partition)
        topic = BY_NAME[block.topic]
        tenant = self.catalog.tenant_of(block.topic)
        admitted: list[tuple[Record, Request, bytes, bytes]] = []
        bad = 0
        for record in block:
            try:
                request = read_request(
                    topic, self.partitions, record.key, record.value, record.partition, record.offset,
                    record.headers, self.catalog, tenant,
                )  # fmt: skip
            except Exception as error:
                bad += 1
                self._poisoned(writes, record, error, now_ms)
                continue
            match request:
                case Request():
                    user = request.notification.user_id.encode()
                    row = row_of(user, key_hash(request.tenant, request.dedup_key))
                    admitted.append((record, request, user, row))
                case Foreign():
                    self._send_home(writes, record, request)
                case Unfit():
                    self._refuse(writes, record, request, tenant, now_ms)
        users = self.users.open(block.partition, (a[2] for a in admitted), (a[3] for a in admitted))
        for record, request, user, row in admitted:
            try:
                self._one(writes, users, record, request, user, row, now_ms)
            except Exception as error:
                bad += 1
                self._poisoned(writes, record, error, now_ms)
        users.save(writes)
        self.poison.note(now_ms, len(block), bad)
        self.tally.add(EVENTS_CONSUMED, block.topic, amount=len(block))
        self.tally.flush()
        return writes

    def _one(
        self,
        writes: Writes,
        users: UsersOfBlock,
        record: Record,
        request: Request,
        user: bytes,
        row: bytes,
        now_ms: int,
    ) -> None:
        first = users.recall(row)
        if first is not None and first.source != request.source and first.until_ms > now_ms:
            self._repeat(writes, record, request, first, now_ms)
            return
        facts = users.facts(user)
        if first is not None and first.source == request.source:
            held = facts.reservations
            # A re-keyed record may come home twice: the second copy says what the first one said.
            request = replace(request, src_offset=first.offset)
        else:
            decisions = decide(request, facts, self.catalog, self.freshness, now_ms)
            held = caps.settle(facts.reservations, request, decisions, now_ms)
            first = Admission(
                request.source, record.partition, request.body, request.notification_id, now_ms,
                now_ms + request.type.dedup_window_ms, decisions, record.offset,
            )  # fmt: skip
        outputs = Writes(writes.partition)  # apart, so that an error leaves nothing half written
        for decision in first.decisions:
            delivery = delivery_of(request, decision, first.first_ms)
            carry_out(outputs, self.schedule, delivery, decision, request.source, record.offset)
            reason = "" if isinstance(decision, Deliver) else decision.reason
            self.tally.add(DECISIONS, request.lane, type(decision).__name__.lower(), reason)
        users.hold(user, held)
        users.remember(row, first)
        writes.add(outputs)

    def _repeat(
        self, writes: Writes, record: Record, request: Request, first: Admission, now_ms: int
    ) -> None:
        """The same key again: another body is refused, the same one is only noted (R-029, R-030, R-072)."""
        if first.body != request.body:
            unfit = Unfit(Reason.KEY_REUSED, "/idempotency_key", "this key came before with another body")
            self._refuse(writes, record, unfit, request.tenant, now_ms)
            return
        notification = request.notification
        self.tally.add(DECISIONS, request.lane, "repeat", Reason.DUPLICATE)
        writes.event(
            DeliveryEvent(
                delivery_id=f"{record.topic}/{record.partition}/{record.offset}",
                notification_id=request.notification_id,
                tenant=request.tenant,
                user_id=notification.user_id,
                status=Status.DUPLICATE,
                type=notification.type,
                category=request.type.category,
                lane=request.type.lane,
                channel="",
                cohort_at_ms=first.first_ms,  # the same on every replay, as its key in analytics must be
                occurred_at_ms=now_ms,
                reason=Reason.DUPLICATE,
                campaign_id=notification.campaign_id,
                src_topic=BY_NAME[record.topic].number,
                src_partition=record.partition,
                src_offset=record.offset,
            )
        )

    def _send_home(self, writes: Writes, record: Record, foreign: Foreign) -> None:
        """Write a record again to the partition its key belongs to, with its origin as identity."""
        headers = record.headers or ()
        kept = [(name, value) for name, value in headers if name != ORIGIN_HEADER]
        client = next((value for name, value in headers if name == CLIENT_HEADER), b"unknown")
        self.tally.add(REKEYED, client[:40].decode(errors="replace"))
        writes.forward(
            record.topic, foreign.partition, record, [*kept, (ORIGIN_HEADER, foreign.origin.encode())]
        )

    def _refuse(self, writes: Writes, record: Record, unfit: Unfit, tenant: str, now_ms: int) -> None:
        rejection = Rejection(
            unfit.reason, unfit.pointer, unfit.detail, tenant, unfit.notification_id, unfit.idempotency_key,
            record.topic, record.partition, record.offset, now_ms,
        )  # fmt: skip
        self.tally.add(SET_ASIDE, unfit.reason)
        writes.set_aside(record, unfit, ROLE, now_ms, rejection)

    def _poisoned(self, writes: Writes, record: Record, error: Exception, now_ms: int) -> None:
        unfit = Unfit(Reason.POISON, "", f"{type(error).__name__}", dead_letter=True)
        self.tally.add(SET_ASIDE, Reason.POISON)
        writes.set_aside(record, unfit, ROLE, now_ms, None)
