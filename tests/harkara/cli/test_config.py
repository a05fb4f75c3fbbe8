"""`harkara config show` and `harkara config check`."""

import json
import socket
from collections.abc import Iterator

import pytest
from click.testing import CliRunner, Result

from harkara.cli import main
from harkara.settings import DECLARED


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting of the person who runs the tests reaches them."""
    for spec in DECLARED:
        monkeypatch.delenv(f"HARKARA_{spec.name.upper()}", raising=False)


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A loopback port that nobody answers on: bound, never listening."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


def run(*arguments: str, **environ: str) -> Result:
    return CliRunner().invoke(main, arguments, env=environ)


def test_show_prints_each_setting_with_unit_and_source() -> None:
    """Every setting is a row; a given one says where it comes from."""
    result = run("config", "show", HARKARA_PARTITIONS="96")
    assert result.exit_code == 0
    for spec in DECLARED:
        assert f"HARKARA_{spec.name.upper()}" in result.stdout
    row = next(line for line in result.stdout.splitlines() if line.startswith("HARKARA_PARTITIONS"))
    assert row.split()[1:4] == ["96", "partitions", "environment"]


def test_show_as_json_hides_secrets() -> None:
    """The JSON form holds value, unit and source; a secret is three stars, a URL loses its password."""
    result = run(
        "config",
        "show",
        "--json",
        HARKARA_TWILIO_AUTH_TOKEN="hush",
        HARKARA_CLICKHOUSE="https://ann:hush@127.0.0.1:8443/harkara",
    )
    rows = {row["name"]: row for row in json.loads(result.stdout)}
    assert rows["HARKARA_TWILIO_AUTH_TOKEN"]["value"] == "***"
    assert rows["HARKARA_CLICKHOUSE"]["value"] == "https://ann:***@127.0.0.1:8443/harkara"
    assert rows["HARKARA_COMMIT_INTERVAL_MS"] == {
        "name": "HARKARA_COMMIT_INTERVAL_MS",
        "value": "1000",
        "unit": "ms",
        "source": "default",
        "default": "1000",
        "meaning": "between commits of offsets",
    }
    assert "hush" not in result.stdout


def test_folder_option_is_shown() -> None:
    """The data folder of the command line is the one in force."""
    result = run("--folder", "elsewhere", "config", "show", "--json")
    row = next(row for row in json.loads(result.stdout) if row["name"] == "HARKARA_FOLDER")
    assert (row["value"], row["source"]) == ("elsewhere", "command line")


def test_wrong_setting_is_one_line() -> None:
    """A command that needs the settings refuses with name and mend, exit code 2."""
    result = run("config", "show", HARKARA_PARTITIONS="x")
    assert result.exit_code == 2
    assert result.stderr.startswith("harkara: HARKARA_PARTITIONS: give a whole number")
    assert result.stderr.count("\n") == 1


def test_check_passes_with_the_embedded_default() -> None:
    """With nothing configured there is nothing to reach."""
    result = run("config", "check")
    assert result.exit_code == 0
    assert "well formed" in result.stdout


def test_check_lists_every_wrong_value() -> None:
    """All mends at once, one a line, exit code 2."""
    result = run("config", "check", HARKARA_PARTITIONS="x", HARKARA_KAFKAS="y")
    assert result.exit_code == 2
    assert [line.split(":")[0] for line in result.stderr.splitlines()] == [
        "HARKARA_PARTITIONS",
        "HARKARA_KAFKAS",
    ]


@pytest.mark.parametrize(
    ("name", "scheme", "account"),
    [
        ("HARKARA_REDIS", "redis://", {}),
        ("HARKARA_CLICKHOUSE", "http://ann:hush@", {}),
        ("HARKARA_TWILIO_URL", "http://", {"HARKARA_TWILIO_ACCOUNT_SID": "AC" + "0" * 32}),
        ("HARKARA_FCM_URL", "http://", {"HARKARA_FCM_PROJECT_ID": "harkara-test"}),
    ],
)
def test_check_names_what_does_not_answer(
    name: str, scheme: str, account: dict[str, str], closed_port: int
) -> None:
    """An address that nobody answers on is named with what to look at, and without its password."""
    result = run("config", "check", "--json", **{name: f"{scheme}127.0.0.1:{closed_port}"}, **account)
    assert result.exit_code == 2
    (problem,) = json.loads(result.stdout)
    assert problem["name"] == name
    assert f"127.0.0.1:{closed_port}" in problem["mend"]
    assert "?" in problem["mend"]
    assert "hush" not in problem["mend"]


def test_check_passes_where_something_answers() -> None:
    """A provider whose port takes connections is no problem."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        result = run(
            "config",
            "check",
            HARKARA_FCM_URL=f"http://127.0.0.1:{server.getsockname()[1]}",
            HARKARA_FCM_PROJECT_ID="harkara-test",
        )
    assert (result.exit_code, result.stderr) == (0, "")


@pytest.mark.integration
def test_check_names_a_kafka_that_does_not_answer(closed_port: int) -> None:
    """Librdkafka's time-out becomes one line, and it writes nothing of its own."""
    result = run("config", "check", HARKARA_KAFKA=f"127.0.0.1:{closed_port}")
    assert result.exit_code == 2
    assert result.stderr.startswith(f"HARKARA_KAFKA: 127.0.0.1:{closed_port} is not a Kafka that answers")
    assert result.stderr.count("\n") == 1
