"""A sender on a recording transport and a scripted provider: no broker, no Valkey."""

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec
from aiokafka import ConsumerRecord

from agents.poison import PoisonGuard
from agents.sender import Sender, SenderSettings
from agents.sender.attempt import Attempts
from agents.sender.bursts import Bursts
from connectors.kafka.block import Block, Writes
from connectors.pacing.route import Route
from connectors.telemetry import Telemetry
from harkara.testing import RecordingTransport
from streams.catalog import Catalog
from streams.clock import FixedClock
from streams.records.codec import read_delivery_event, read_followup, to_json
from streams.records.delivery import Delivery
from streams.records.delivery_event import DeliveryEvent
from streams.records.followup import Followup
from streams.records.state import Claim
from streams.topics import DELIVERIES, DELIVERY_EVENTS, FOLLOWUPS, Channel, Lane, Topic
from tables.claims import Claims
from tables.stops import StopsTable
from tests.agents.feeding import Fed, record

TOPIC = DELIVERIES[Channel.SMS, Lane.TRANSACTIONAL]
NOW = 1_000_000_000_000
Given = tuple[int, Delivery]  # offset and delivery


def delivery(name: str, user: str = "u1", type_name: str = "order_shipped", **fields: object) -> Delivery:
    """Return a delivery that was decided just now."""
    data = {"code": "4711"} if type_name == "otp" else {"order": name, "day": "Sunday"}
    given = Delivery(
        name, f"n-{name}", "default", user, type_name, "order", Lane.TRANSACTIONAL, Channel.SMS, "contact",
        "+8801711000001", type_name, 1, "en", data, NOW, NOW, NOW + 60_000, NOW + 3_600_000,
    )  # fmt: skip
    return msgspec.structs.replace(given, **fields)


@dataclass
class Sending:
    """One process's sender; a new one over the same transport is the process after it."""

    transport: RecordingTransport
    route: Route
    catalog: Catalog
    clock: FixedClock
    chain_wait_ms: int = 20

    def __post_init__(self) -> None:
        transport: object = self.transport
        self.claims = Claims(self.transport.view)
        self.stops = StopsTable(self.transport.view)
        attempts = Attempts(
            transport, self.route, self.catalog, self.clock, self.claims, self.stops,  # type: ignore[arg-type]  # stands in
            Bursts(transport, 1, 500), Bursts(transport, 1, 500), Telemetry(), PoisonGuard(),  # type: ignore[arg-type]  # stands in
        )  # fmt: skip
        settings = SenderSettings(chain_wait_ms=self.chain_wait_ms)
        self.sender = Sender(transport, attempts, self.stops, self.clock, settings)  # type: ignore[arg-type]  # stands in

    async def read(self, *given: Given) -> None:
        """Hand the sender one block; returns before its deliveries are done."""
        records: list[ConsumerRecord] = [
            record(TOPIC, offset, one.user_id, to_json(one)) for offset, one in given
        ]
        await self.sender.deliveries(Fed([Block(TOPIC.full_name, 0, records)]))

    def hold_claim(self, name: str, claim: Claim) -> None:
        """Put a claim into the state."""
        writes = Writes(0)
        self.claims.save(writes, name, claim)
        self.transport.apply(writes)

    def claim(self, name: str) -> Claim:
        """Return a delivery's claim."""
        found = self.claims.of(0, name)
        assert found is not None
        return found

    @property
    def committed(self) -> int:
        return self.transport.committed(TOPIC.full_name, 0)

    def events(self, name: str) -> list[DeliveryEvent]:
        """Return what was told of a delivery."""
        told = (read_delivery_event(value) for value in self._out(DELIVERY_EVENTS.full_name))
        return [event for event in told if event.delivery_id == name]

    def followups(self) -> list[Followup]:
        """Return what was given back to the router."""
        return [read_followup(value) for value in self._out(FOLLOWUPS[Lane.TRANSACTIONAL].full_name)]

    def written(self, topic: Topic) -> list[bytes]:
        """Return what was written to a topic."""
        return list(self._out(topic.full_name))

    def _out(self, topic: str) -> Iterator[bytes]:
        return (value for name, _, value in self.transport.outputs if name == topic and value is not None)
