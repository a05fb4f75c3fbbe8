"""The schema: applied once, checked by name, and its vocabulary the one of the pipeline."""

import re
from pathlib import Path

import pytest
from clickhouse_connect.driver.client import Client

from connectors.clickhouse import migrations
from connectors.clickhouse.migrations import MIGRATIONS, VIEWS
from connectors.clickhouse.schema import Schema, SchemaChanged
from streams.errors import StateTooNew
from streams.statuses import Status
from tests.connectors.clickhouse.conftest import Analytics
from tests.connectors.clickhouse.lives import event

pytestmark = pytest.mark.integration


def schema(analytics: Analytics) -> Schema:
    """The schema of a test's database."""
    return Schema(analytics.client, analytics.name)


def test_applied_again_it_does_nothing(analytics: Analytics) -> None:
    """A second run finds every file applied."""
    assert schema(analytics).apply() == []


def test_interrupted_it_goes_on(analytics: Analytics) -> None:
    """What a killed run made without noting it is made again without harm."""
    analytics.client.command(
        f"ALTER TABLE {analytics.name}.schema_version DELETE WHERE name >= '002' SETTINGS mutations_sync = 1"
    )
    assert schema(analytics).apply() == [*MIGRATIONS[1:], *VIEWS]
    assert schema(analytics).check("harkara_scratch") == []


def test_a_changed_numbered_file_is_refused(analytics: Analytics) -> None:
    """A file that was applied with another text is never applied over it."""
    analytics.client.insert(
        f"{analytics.name}.schema_version", [[MIGRATIONS[0], "other"]], ["name", "checksum"]
    )
    with pytest.raises(SchemaChanged, match="001_delivery_event"):
        schema(analytics).apply()


def test_a_newer_release_is_not_touched(analytics: Analytics) -> None:
    """A file that this release does not know stops it."""
    analytics.client.insert(f"{analytics.name}.schema_version", [["009_later", "x"]], ["name", "checksum"])
    with pytest.raises(StateTooNew, match="009_later"):
        schema(analytics).apply()
    assert "009_later" in schema(analytics).check("harkara_scratch")[0].found


def test_check_names_each_difference(analytics: Analytics) -> None:
    """A dropped view, an added column and a changed comment are told by name; nothing is mended."""
    analytics.client.command(f"DROP VIEW {analytics.name}.v_cost")
    analytics.client.command(f"ALTER TABLE {analytics.name}.delivery_state ADD COLUMN extra UInt8")
    analytics.client.command(f"ALTER TABLE {analytics.name}.delivery_event COMMENT COLUMN tenant 'changed'")
    found = schema(analytics).check("harkara_scratch")
    assert {difference.object for difference in found} == {
        "v_cost",
        "delivery_state.extra",
        "delivery_event.tenant",
    }
    assert found == schema(analytics).check("harkara_scratch")


def test_check_of_an_empty_server_tells_what_is_missing(client: Client) -> None:
    """Before the first apply every file is missing, and the check makes no database."""
    found = Schema(client, "harkara_nowhere").check("harkara_scratch")
    assert {*MIGRATIONS, *VIEWS, "delivery_event"} <= {difference.object for difference in found}
    databases = {row[0] for row in client.query("SELECT name FROM system.databases").result_rows}
    assert not databases & {"harkara_nowhere", "harkara_scratch"}


def test_every_view_column_says_its_meaning(analytics: Analytics) -> None:
    """Each column of each named view has a comment, and each view tells how fresh it is."""
    query = (
        "SELECT table, name, comment FROM system.columns WHERE database = {db:String} AND table LIKE 'v\\_%'"
    )
    columns = analytics.client.query(query, {"db": analytics.name}).result_rows
    assert {table for table, _, _ in columns} == set(VIEWS)
    assert [(table, name) for table, name, comment in columns if not comment] == []
    for view in VIEWS:
        told = " ".join(comment for table, _, comment in columns if table == view)
        assert re.search(r"fresh within about 1 s|as of refreshed_at", told), view


@pytest.mark.parametrize(
    "which, index",
    [
        ("delivery_id = '00000000-0000-0000-0000-000000000001'", "ix_delivery"),
        ("notification_id = 'n-1'", "ix_notification"),
        ("user_hash = 1", "ix_user"),
    ],
)
def test_one_message_is_found_by_an_index(analytics: Analytics, which: str, index: str) -> None:
    """The timeline of one delivery, notification or user does not read everybody's rows."""
    analytics.writer.write([event(Status.QUEUED)])
    plan = analytics.rows(f"EXPLAIN indexes = 1 SELECT * FROM db.v_timeline WHERE {which}")
    assert index in " ".join(line for (line,) in plan)


def test_the_lists_are_the_files() -> None:
    """Every file of the schema is in a list, and every name in a list is a file."""
    folder = Path(migrations.__file__).parent / "schema"
    assert {path.stem for path in folder.glob("*.sql")} == set(MIGRATIONS)
    assert {path.stem for path in (folder / "views").glob("*.sql")} == set(VIEWS)
