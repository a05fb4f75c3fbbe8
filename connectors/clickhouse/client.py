"""The one place that makes ClickHouse clients, with every setting that matters pinned."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote, urlsplit

import clickhouse_connect
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import ClickHouseError, Error

from streams.errors import HarkaraError

#: Releases differ in what they do by default, and each difference loses or doubles rows.
INSERTING: Final[Mapping[str, int]] = {
    "async_insert": 0,  # an insert is answered when its rows are stored; on by default since 26.3
    "deduplicate_blocks_in_dependent_materialized_views": 1,  # a repeated block repeats in no view
    "max_partitions_per_insert_block": 0,  # a replay of half a year touches more days than the default allows
}
#: For questions: the server itself refuses whatever would change something.
ASKING: Final[Mapping[str, int]] = {"readonly": 2}


class Away(HarkaraError):
    """ClickHouse does not answer, or not now; the same request may succeed later."""


@dataclass(frozen=True)
class Timeouts:
    """How long a client waits, in seconds."""

    connect_s: int = 5
    answer_s: int = 60


def connect(url: str, settings: Mapping[str, int] | None = None, timeouts: Timeouts | None = None) -> Client:
    """Return a client of its own for `http[s]://user:password@host:port`; raises Away.

    Use it from one thread at a time. It has no session, so nothing that one statement sets stays for
    the next, and two clients never wait for each other.
    """
    for library in ("clickhouse_connect", "urllib3.connectionpool"):
        # They log each failed try with its address; whoever calls says once what is wrong.
        logging.getLogger(library).setLevel(logging.CRITICAL)
    parts, wait = urlsplit(url), timeouts or Timeouts()
    try:
        return clickhouse_connect.get_client(
            interface=parts.scheme,  # else TLS would depend on the port's number
            host=parts.hostname,
            port=parts.port,
            username=unquote(parts.username) if parts.username else None,
            password=unquote(parts.password or ""),
            settings=dict(settings or {}),
            connect_timeout=wait.connect_s,
            send_receive_timeout=wait.answer_s,
            autogenerate_session_id=False,
            query_limit=0,
            dedicated_pool=True,
            tz_mode="aware",
            client_name="harkara",
        )
    except ClickHouseError as error:
        raise Away(f"ClickHouse does not take connections ({told(error)})") from error


def told(error: BaseException) -> str:
    """Return the error's name: never its text, which may quote data."""
    return error.name if isinstance(error, Error) and error.name else type(error).__name__
