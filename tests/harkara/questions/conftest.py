"""Questions are asked of the same databases as the schema's own tests."""

from tests.connectors.clickhouse.conftest import analytics, clickhouse_url, client, fresh

__all__ = ["analytics", "clickhouse_url", "client", "fresh"]
