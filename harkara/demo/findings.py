"""Asks the running system what became of the day; nothing here is taken from the script."""

import time
from typing import Any

from clickhouse_connect.driver.client import Client
from msgspec import Struct

from connectors.clickhouse.migrations import DATABASE
from connectors.embedded.addresses import Addresses
from connectors.kafka.scan import Scan
from connectors.simulator.client import SimulatorClient
from harkara.audit.audit import Report, audit, look
from harkara.demo.crosscheck import CrossCheck, cross_check
from harkara.demo.day import Played
from harkara.demo.logins import Logins, measure
from harkara.demo.percentiles import percentiles
from harkara.demo.phones import ProviderFigures, read_phones
from harkara.demo.world import World
from harkara.questions.asking import answering
from harkara.questions.funnel import Funnel, funnel, refresh

_REASONS = (
    f"SELECT status, reason, toUInt64(sum(deliveries)) AS n FROM {DATABASE}.v_reasons"  # noqa: S608  # our names
    " WHERE hour >= toStartOfHour(fromUnixTimestamp64Milli({since:Int64}, 'UTC'))"
    " GROUP BY status, reason ORDER BY n DESC, status, reason"
)


class Why(Struct, frozen=True):
    """Deliveries that stand in a status for a reason."""

    status: str
    reason: str
    deliveries: int


class Findings(Struct, frozen=True):
    """What the system says of its day."""

    audit: Report
    funnel: Funnel
    reasons: tuple[Why, ...]
    logins: tuple[Logins, ...]
    check: CrossCheck
    providers: dict[str, ProviderFigures]

    @property
    def holds(self) -> bool:
        """Whether the audit holds and the ledger says the same."""
        return self.audit.holds and self.check.holds

    def as_json(self, played: Played, seconds: float) -> dict[str, Any]:
        """Return the document that `--json` writes."""
        otp = percentiles([value for scene in self.logins for value in scene.values])
        reasons: dict[str, int] = {}
        for why in self.reasons:
            reasons[why.reason] = reasons.get(why.reason, 0) + why.deliveries
        return {
            "audit": {
                "holds": self.audit.holds,
                "accepted": self.audit.accepted,
                **self.audit.parts,
                "events": self.audit.events,
                "differences": self.audit.differences,
            },
            "lost": self.audit.lost,
            "duplicate_sends": max(self.audit.duplicate_sends, self.check.unexplained),
            "otp_ms": {"p50": otp.p50, "p99": otp.p99, "max": otp.max, "count": otp.count},
            "funnel": self.funnel.rows,
            "reasons": reasons,
            "refused": dict(played.tally.refused + played.tally.dead),
            "providers": self.providers,
            "ledger": self.check,
            "scenes": played.scenes,
            "events": played.written,
            "seconds": round(seconds, 1),
        }


async def find_out(
    addresses: Addresses,
    simulator: SimulatorClient,
    world: World,
    played: Played,
    since_ms: int,
    first_entry: int,
) -> Findings:
    """Ask ClickHouse, the ledger and the audit about what was admitted from `since_ms` on."""
    phones = await read_phones(simulator, first_entry)
    people = {person.user_id: person for person in world.people}
    logins = tuple(
        measure(scene, events, people, played.acknowledged, phones.first_call_ms)
        for scene, events in (("campaign", world.passwords), ("night", world.late_passwords))
    )
    with answering(addresses.clickhouse, {}) as client:
        scan = Scan(addresses.kafka)
        report = audit(lambda: look(scan, client, time.time_ns() // 1_000_000, _silent))
        refresh(client)
        return Findings(
            report,
            funnel(client, ("lane", "channel"), since_ms),
            _reasons(client, since_ms),
            logins,
            cross_check(client, since_ms, phones.received),
            phones.providers,
        )


def _reasons(client: Client, since_ms: int) -> tuple[Why, ...]:
    return tuple(Why(*row) for row in client.query(_REASONS, {"since": since_ms}).result_rows)


def _silent(_what: str, _done: int, _steps: int) -> None:
    """Say nothing: the status line says that the audit runs."""
