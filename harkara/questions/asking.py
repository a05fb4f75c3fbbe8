"""Opens what a question needs: ClickHouse alone, or the whole stack, started when it is down."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import ClickHouseError, Error

from connectors.clickhouse.client import ASKING, connect
from harkara.embedded.running import running_stack
from harkara.settings import Settings
from streams.errors import HarkaraError


class Unanswered(HarkaraError):
    """ClickHouse refused a question; carries its own words, since the question was a person's."""


@contextmanager
def clickhouse(settings: Settings, pinned: Mapping[str, int] = ASKING) -> Iterator[Client]:
    """Yield a client that can only read (unless `pinned` says otherwise).

    A ClickHouse that the settings name is asked by itself; Kafka need not be there. What it refuses
    is raised as Unanswered.
    """
    if settings.clickhouse is not None:
        with answering(settings.clickhouse, pinned) as client:
            yield client
        return
    with running_stack(settings) as addresses, answering(addresses.clickhouse, pinned) as client:
        yield client


@contextmanager
def answering(url: str, pinned: Mapping[str, int] = ASKING) -> Iterator[Client]:
    """Yield a client for this URL; what ClickHouse refuses is raised as Unanswered."""
    client = connect(url, pinned)
    try:
        yield client
    except ClickHouseError as error:
        raise Unanswered(_said(error)) from error
    finally:
        client.close()


def _said(error: ClickHouseError) -> str:
    """Return ClickHouse's own words without what the client puts around them."""
    text = str(error).partition("DB::Exception: ")[2] or str(error)
    text = text.partition(" (for url ")[0]
    code = error.code if isinstance(error, Error) else None
    first = text.strip().splitlines()[0] if text.strip() else type(error).__name__
    return f"ClickHouse: {first}" if code is None else f"ClickHouse ({code}): {first}"
