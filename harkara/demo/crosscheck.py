"""Compares what we say was sent with what the providers say arrived."""

from collections.abc import Mapping

from clickhouse_connect.driver.client import Client
from msgspec import Struct

from connectors.clickhouse.migrations import DATABASE
from connectors.clickhouse.stages import RANKS
from streams.statuses import Status

_SENT = (
    f"SELECT toString(delivery_id), cohort_at >= fromUnixTimestamp64Milli({{since:Int64}}, 'UTC')"  # noqa: S608  # our own names
    f" FROM {DATABASE}.v_delivery WHERE rank >= {{sent:UInt8}}"
)
_UNKNOWN = (
    f"SELECT DISTINCT toString(delivery_id) FROM {DATABASE}.delivery_event"  # noqa: S608  # our own names
    " WHERE stage = 'unknown'"
)


class CrossCheck(Struct, frozen=True):
    """Two accounts of one day; all but the first two figures should be 0."""

    sent: int  # deliveries that are sent, by ClickHouse
    received: int  # deliveries that went out, by the ledger
    not_received: int  # sent, but not in the ledger
    not_told: int  # in the ledger, but neither sent nor unknown
    repeats: int  # times that somebody got a delivery again
    unexplained: int  # of those, without an UNKNOWN

    @property
    def holds(self) -> bool:
        """Whether both accounts are the same."""
        return not (self.not_received or self.not_told or self.unexplained)


def cross_check(client: Client, since_ms: int, received: Mapping[str, int]) -> CrossCheck:
    """Compare the deliveries admitted from `since_ms` on with what was received since then.

    What an earlier day left waiting may be among the received.
    """
    rows = client.query(_SENT, {"since": since_ms, "sent": RANKS[Status.SENT]}).result_rows
    told = {str(delivery_id) for delivery_id, _ in rows}
    sent = {str(delivery_id) for delivery_id, is_of_the_day in rows if is_of_the_day}
    unknown = {str(row[0]) for row in client.query(_UNKNOWN).result_rows}
    again = {delivery_id: times - 1 for delivery_id, times in received.items() if times > 1}
    return CrossCheck(
        len(sent),
        len(received),
        len(sent - received.keys()),
        len(received.keys() - told - unknown),
        sum(again.values()),
        sum(times for delivery_id, times in again.items() if delivery_id not in unknown),
    )
