"""Applies the schema, each file once, and tells by name whatever is not as the files say."""

from dataclasses import dataclass
from typing import Final

from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import ClickHouseError

from connectors.clickhouse.client import Away, told
from connectors.clickhouse.migrations import DATABASE, migrations
from streams.errors import HarkaraError, StateTooNew

_VERSIONS: Final = "schema_version"
_MAKE_VERSIONS: Final = (
    "CREATE DATABASE IF NOT EXISTS {db}",
    "CREATE TABLE IF NOT EXISTS {db}.schema_version"
    " (name String, checksum String, applied_at DateTime64(3, 'UTC') DEFAULT now64(3))"
    " ENGINE = ReplacingMergeTree(applied_at) ORDER BY name"
    " COMMENT 'Files of the schema that were applied, by name and checksum.'",
)
_COLUMNS: Final = (
    "SELECT table, name, concat(type, ' ', default_expression, ' ', compression_codec, ' -- ', comment)"
    " FROM system.columns WHERE database = {db:String} AND table NOT LIKE '.inner%'"
)
_TABLES: Final = (
    "SELECT name, concat(engine, ' PARTITION BY ', partition_key, ' ORDER BY ', sorting_key,"
    " ' PRIMARY KEY ', primary_key, ' AS ', as_select, ' -- ', comment)"
    " FROM system.tables WHERE database = {db:String} AND name NOT LIKE '.inner%'"
)


class SchemaChanged(HarkaraError):
    """A numbered file was applied with another text than it has now."""


@dataclass(frozen=True)
class Difference:
    """One thing that is not as the files say."""

    object: str  # a table, a view, a column as `table.column`, or a file
    found: str
    wanted: str


class Schema:
    """The tables and views of one database."""

    def __init__(self, client: Client, database: str = DATABASE) -> None:
        self._client = client
        self._database = database

    def apply(self) -> list[str]:
        """Apply what is not applied yet; returns the names of these files.

        Runs again without harm, whole or after a stop in the middle. Raises SchemaChanged when a
        numbered file was applied with another text, StateTooNew when a newer release was here.
        """
        try:
            return self._apply()
        except ClickHouseError as error:
            raise Away(f"the schema cannot be applied ({told(error)})") from error

    def _apply(self) -> list[str]:
        for statement in _MAKE_VERSIONS:
            self._client.command(statement.format(db=self._database))
        applied = self._applied()
        done = []
        for migration in migrations(self._database):
            if applied.get(migration.name) == migration.checksum:
                continue
            if migration.name in applied and not migration.repeatable:
                raise SchemaChanged(
                    f"{migration.name} was applied with another text: put the change into a new file"
                )
            for statement in migration.statements:
                self._client.command(statement)
            self._client.insert(
                f"{self._database}.{_VERSIONS}", [[migration.name, migration.checksum]], ["name", "checksum"]
            )
            done.append(migration.name)
        return done

    def check(self, scratch: str) -> list[Difference]:
        """Return everything that differs from the files, by making them once more beside it.

        `scratch` is the name of a database that does not exist; it is made and dropped again.
        Nothing in the real one is changed.
        """
        try:
            applied = self._applied() if self._exists() else {}
            differences = [
                Difference(m.name, "another text" if m.name in applied else "not applied", "applied")
                for m in migrations(self._database)
                if applied.get(m.name) != m.checksum
            ]
            return differences + self._compared(scratch)
        except StateTooNew as newer:
            return [Difference(_VERSIONS, str(newer), "this release")]
        except ClickHouseError as error:
            raise Away(f"the schema cannot be checked ({told(error)})") from error

    def _compared(self, scratch: str) -> list[Difference]:
        try:
            for statement in _MAKE_VERSIONS:
                self._client.command(statement.format(db=scratch))
            for migration in migrations(scratch):
                for statement in migration.statements:
                    self._client.command(statement)
            wanted, found = self._objects(scratch), self._objects(self._database)
        finally:
            self._client.command(f"DROP DATABASE IF EXISTS {scratch} SYNC")
        names = sorted(wanted.keys() | found.keys())
        # A missing table explains its columns.
        missing = {name for name in names if "." not in name and name not in found}
        return [
            Difference(name, found.get(name, "missing"), wanted.get(name, "nothing"))
            for name in names
            if found.get(name) != wanted.get(name) and name.partition(".")[0] not in missing - {name}
        ]

    def _objects(self, database: str) -> dict[str, str]:
        """Every table, view and column with its definition, the database's name taken out."""
        named = {"db": database}
        tables = self._client.query(_TABLES, parameters=named).result_rows
        columns = self._client.query(_COLUMNS, parameters=named).result_rows
        found = {str(name): str(text) for name, text in tables}
        found |= {f"{table}.{name}": str(text) for table, name, text in columns}
        return {name: text.replace(f"{database}.", "").strip() for name, text in found.items()}

    def _exists(self) -> bool:
        query = "SELECT count() FROM system.tables WHERE database = {db:String} AND name = {table:String}"
        return bool(self._client.query(query, {"db": self._database, "table": _VERSIONS}).result_rows[0][0])

    def _applied(self) -> dict[str, str]:
        query = f"SELECT name, checksum FROM {self._database}.{_VERSIONS} FINAL"  # noqa: S608  # our own names
        rows = self._client.query(query).result_rows
        applied = {str(name): str(checksum) for name, checksum in rows}
        strange = sorted(applied.keys() - {m.name for m in migrations()})
        if strange:
            raise StateTooNew(f"a newer release applied {', '.join(strange)}")
        return applied
