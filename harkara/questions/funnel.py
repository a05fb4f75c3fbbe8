"""The funnel in any slice, counted at the moment it is asked for."""

from collections.abc import Sequence
from typing import Any, Final

from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import ClickHouseError
from msgspec import Struct

from connectors.clickhouse.migrations import DATABASE
from streams.errors import HarkaraError

#: What the funnel can be sliced by -> its column in `funnel_hour`.
SLICES: Final[dict[str, str]] = {
    "hour": "hour",
    "tenant": "tenant",
    "campaign": "campaign_id",
    "channel": "channel",
    "lane": "lane",
    "type": "type",
    "category": "category",
    "template": "template",
    "version": "version",
    "provider": "provider",
}
COUNTS: Final = (
    *("accepted", "pending", "sent", "delivered", "read", "clicked", "bounced", "failed", "expired"),
    *("suppressed", "cancelled", "merged", "unknown", "duplicates"),
)
LATENCIES: Final = ("sent_p50_ms", "sent_p95_ms", "sent_p99_ms")
_TRIES: Final = 5


class UnknownSlice(HarkaraError):
    """The funnel has no such dimension."""


class Funnel(Struct, frozen=True):
    """Rows of one slice each, and their total. Every row: accepted = pending + sent + … + unknown."""

    by: tuple[str, ...]
    rows: list[dict[str, Any]]  # the slice's values, `COUNTS`, and `LATENCIES` (null when nothing was sent)
    total: dict[str, Any]
    counted_at_ms: int | None  # null when nothing was ever counted


def refresh(client: Client, database: str = DATABASE) -> bool:
    """Count what changed, now; false when this user may not, and the last count must do.

    Returns when everything that had been inserted at the call is counted.
    """
    # Hours that a refresh would count now, and that none has counted since we asked: an insert that was
    # under way during the last count may have been touched before it and be seen only by the next.
    behind = (
        f"SELECT count() FROM (SELECT hour, max(touched_at) AS touched FROM {database}.touched_hour"  # noqa: S608  # our own names
        " GROUP BY hour) AS t LEFT JOIN (SELECT hour, max(refreshed_at) AS refreshed"
        f" FROM {database}.funnel_hour GROUP BY hour) AS f USING hour"
        " WHERE touched >= refreshed - INTERVAL 10 MINUTE AND refreshed < {asked:DateTime64(3, 'UTC')}"
    )
    try:
        asked = client.query("SELECT toString(now64(3, 'UTC'))").result_rows[0][0]
        for _ in range(_TRIES):
            client.command(f"SYSTEM REFRESH VIEW {database}.funnel_hour_rmv")
            client.command(f"SYSTEM WAIT VIEW {database}.funnel_hour_rmv")
            if client.query(behind, {"asked": asked}).result_rows[0][0] == 0:
                return True
    except ClickHouseError:
        return False  # no right to refresh: the answer says how old it is
    return False


def funnel(
    client: Client,
    by: Sequence[str] = ("lane", "channel"),
    since_ms: int | None = None,
    database: str = DATABASE,
) -> Funnel:
    """Return the funnel by these dimensions, of admissions from `since_ms` on (its whole hour).

    Raises UnknownSlice.
    """
    for name in by:
        if name not in SLICES:
            raise UnknownSlice(f"the funnel cannot be sliced by {name!r}; give some of {', '.join(SLICES)}")
    rows = [_named(by, row) for row in _ask(client, tuple(SLICES[n] for n in by), since_ms, database)]
    total = _named((), next(iter(_ask(client, (), since_ms, database))))
    counted_at = total.pop("refreshed_ms")
    for row in rows:
        del row["refreshed_ms"]
    return Funnel(tuple(by), rows, total, counted_at or None)


def _ask(
    client: Client, columns: Sequence[str], since_ms: int | None, database: str
) -> Sequence[Sequence[Any]]:
    counts = ", ".join(f"sum(f.{name})" for name in COUNTS)
    slices = "".join(f"{_slice(column)}, " for column in columns)
    grouped = f" GROUP BY {', '.join(columns)} ORDER BY {', '.join(columns)}" if columns else ""
    query = (
        f"SELECT {slices}{counts},"  # noqa: S608  # names of our own lists only
        " arrayMap(q -> if(isNaN(q), NULL, toUInt32(round(q))),"
        " quantilesTDigestMerge(0.5, 0.95, 0.99)(f.sent_latency)),"
        " toUnixTimestamp64Milli(max(f.refreshed_at))"
        f" FROM {database}.funnel_hour AS f WHERE (f.hour, f.refreshed_at) IN"
        f" (SELECT hour, max(refreshed_at) FROM {database}.funnel_hour GROUP BY hour)"
        " AND f.hour >= toStartOfHour(fromUnixTimestamp64Milli({since:Int64}, 'UTC'))" + grouped
    )
    rows: Sequence[Sequence[Any]] = client.query(query, {"since": since_ms or 0}).result_rows
    return rows


def _slice(column: str) -> str:
    return f"formatDateTime(f.{column}, '%FT%H:00:00Z')" if column == "hour" else f"f.{column}"


def _named(by: Sequence[str], row: Sequence[Any]) -> dict[str, Any]:
    *values, quantiles, refreshed_ms = row
    named = dict(zip((*by, *COUNTS), values, strict=True))
    return named | dict(zip(LATENCIES, quantiles, strict=True)) | {"refreshed_ms": refreshed_ms}
