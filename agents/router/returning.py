"""Followups: what senders hand back waits in the schedule, and places under caps are settled."""

from dataclasses import dataclass

from agents.router.admission import ROLE
from connectors.kafka.block import Block, Writes
from streams.ids import row_id
from streams.policy import caps
from streams.reasons import Reason
from streams.records.codec import read_followup
from streams.records.delivery_event import event_of
from streams.records.followup import Reconsider, Settle
from streams.records.source import Source
from streams.records.state import Waiting
from streams.records.unfit import Unfit
from streams.statuses import Status
from streams.topics import BY_NAME
from tables.schedule import Schedule
from tables.users import Users


@dataclass(frozen=True)
class Returning:
    """Takes deliveries back: each goes through the rules again when it is due."""

    users: Users
    schedule: Schedule

    def take_back(self, block: Block, now_ms: int) -> Writes:
        """All that these followups change and emit."""
        writes = Writes(block.partition)
        number = BY_NAME[block.topic].number
        users = self.users.open(block.partition, (record.key for record in block if record.key))
        for record in block:
            try:
                followup = read_followup(record.value or b"")
            except ValueError as error:  # msgspec's errors are ValueErrors
                unfit = Unfit(Reason.UNDECODABLE, "", str(error), dead_letter=True)
                writes.set_aside(record, unfit, ROLE, now_ms, None)
                continue
            match followup:
                case Reconsider(delivery=delivery, at_ms=at, reason=reason):
                    row = row_id(delivery.delivery_id, delivery.attempt, at)
                    source = Source(number, record.offset)
                    self.schedule.insert(
                        writes, Waiting(delivery, reason, "sender", row), at, source, record.offset
                    )
                    writes.event(
                        event_of(
                            delivery, Status.DEFERRED, now_ms, attempt=delivery.attempt, seq=at,
                            rule="sender", reason=reason, until_ms=at,
                        )
                    )  # fmt: skip
                case Settle(user_id=user_id) as settle:
                    user = user_id.encode()
                    users.hold(user, caps.release(users.facts(user).reservations, settle))
        users.save(writes)
        return writes
