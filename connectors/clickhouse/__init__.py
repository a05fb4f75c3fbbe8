"""Analytics: every delivery event in ClickHouse, exact after any replay; the schema and its client.

`stages` maps our statuses to analytics; `schema` makes the tables and views; `writer` is the only
one that writes rows; `client` is the only one that makes connections.
"""
