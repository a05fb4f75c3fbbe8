"""The commands that ask: schema, funnel, sql, why."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from connectors.embedded.addresses import Addresses
from harkara.audit.audit import audit
from harkara.audit.feed import Feed
from harkara.audit.sources import Sources
from harkara.audit.state import State
from harkara.audit.stored import InClickHouse
from harkara.audit.verdict import Witnesses
from harkara.cli import main
from harkara.cli.audit import print_report
from harkara.questions.funnel import COUNTS, LATENCIES

integration = pytest.mark.integration


def run(stack: Addresses, folder: Path, *arguments: str) -> Result:
    """Run a command against the shared servers."""
    environ = {
        "HARKARA_KAFKA": stack.kafka,
        "HARKARA_REDIS": stack.redis,
        "HARKARA_CLICKHOUSE": stack.clickhouse,
        "HARKARA_FOLDER": str(folder),
    }
    return CliRunner().invoke(main, arguments, env=environ)


@integration
def test_schema_is_applied_then_checked(stack: Addresses, tmp_path: Path) -> None:
    """After an apply the check finds nothing and says so; JSON is one document."""
    assert run(stack, tmp_path, "schema", "apply").exit_code == 0
    assert json.loads(run(stack, tmp_path, "schema", "apply", "--json").stdout) == []
    check = run(stack, tmp_path, "schema", "check")
    assert (check.exit_code, check.stdout) == (0, "the schema is as it should be\n")


@integration
def test_funnel_in_json_and_for_people(stack: Addresses, tmp_path: Path) -> None:
    """JSON holds every count of every row; a wrong dimension is refused with exit 2."""
    run(stack, tmp_path, "schema", "apply")
    found = json.loads(run(stack, tmp_path, "funnel", "--json", "--since", "7d").stdout)
    assert set(found) == {"by", "rows", "total", "counted_at_ms"}
    assert set(found["total"]) == {*COUNTS, *LATENCIES}
    assert "accepted" in run(stack, tmp_path, "funnel", "--by", "type").stdout
    refused = run(stack, tmp_path, "funnel", "--by", "address")
    assert refused.exit_code == 2
    assert "lane" in refused.stderr
    assert run(stack, tmp_path, "funnel", "--since", "yesterday").exit_code == 2


@integration
def test_sql_answers_in_three_forms(stack: Addresses, tmp_path: Path) -> None:
    """A table, JSON, CSV; what changes something is refused in one line."""
    assert "41" in run(stack, tmp_path, "sql", "SELECT 41 AS n").stdout
    assert json.loads(run(stack, tmp_path, "sql", "SELECT 41 AS n", "--json").stdout) == [{"n": 41}]
    assert run(stack, tmp_path, "sql", "SELECT 41 AS n", "--csv").stdout == '"n"\n41\n'
    refused = run(stack, tmp_path, "sql", "DROP DATABASE harkara")
    assert refused.exit_code == 2
    assert len(refused.stderr.splitlines()) == 1


@integration
def test_why_of_what_never_came(stack: Addresses, tmp_path: Path) -> None:
    """Silence is an answer too."""
    run(stack, tmp_path, "schema", "apply")
    found = json.loads(run(stack, tmp_path, "why", "no-such-id", "--json").stdout)
    assert found["verdict"] == "never_received"
    assert "Nothing of it ever arrived" in run(stack, tmp_path, "why", "--user", "nobody-at-all").stdout


@pytest.mark.parametrize(
    "arguments", [("why",), ("why", "x", "--user", "u"), ("sql", "SELECT 1", "--json", "--csv")]
)
def test_a_wrong_way_of_asking_is_told(arguments: tuple[str, ...]) -> None:
    """Nothing is started for it."""
    assert CliRunner().invoke(main, arguments).exit_code == 2


def test_a_report_names_what_does_not_hold(capsys: pytest.CaptureFixture[str]) -> None:
    """The table says which law is broken, and `--list` by whom."""
    lost = Witnesses(0, True, Sources(rows={1 << 58: b""}), Feed(), State(), InClickHouse())
    report = audit(lambda: lost, pause=lambda _: None)
    print_report(report, listed=True)
    told = capsys.readouterr().out
    assert "DOES NOT HOLD: 1 lost" in told
    assert "harkara.ingest.critical/0/0" in told
