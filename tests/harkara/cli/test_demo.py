"""`harkara demo` in small: the whole day with a tenth of the people."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.harkara.cli.running import answer, run

pytestmark = [pytest.mark.integration, pytest.mark.timeout(400)]


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any], str]:
    """The folder after a day, the figures it wrote, and what it printed."""
    folder = tmp_path_factory.mktemp("demo")
    done = run(folder, "demo", "--users", "200", "--json", str(folder / "figures.json"))
    assert done.returncode == 0, done.stdout + done.stderr
    return folder, msgspec.json.decode((folder / "figures.json").read_bytes()), done.stdout


def test_the_audit_holds(day: tuple[Path, dict[str, Any], str]) -> None:
    """Nothing is lost, nothing sent twice, and the parts add up."""
    audit = day[1]["audit"]
    parts = ("sent", "failed", "expired", "suppressed", "cancelled", "merged", "unknown", "pending")
    assert audit["holds"] is True
    assert (day[1]["lost"], day[1]["duplicate_sends"]) == (0, 0)
    assert audit["accepted"] == sum(audit[part] for part in parts) > 2_000


def test_every_rule_had_something_to_do(day: tuple[Path, dict[str, Any], str]) -> None:
    """The day shows a cap, an opt-out, quiet hours, a dead phone, and each kind of bad event."""
    figures = day[1]
    assert {"cap_reached", "opted_out", "no_consent", "no_endpoint"} <= figures["reasons"].keys()
    assert {"unknown_type", "missing_parameter", "not_milliseconds", "undecodable"} <= figures[
        "refused"
    ].keys()
    assert figures["audit"]["events"]["duplicates"] > 50
    assert figures["audit"]["events"]["rekeyed"] > 0


def test_two_witnesses_say_the_same(day: tuple[Path, dict[str, Any], str]) -> None:
    """The funnel's sent are the ledger's deliveries, and each password's call was timed."""
    figures = day[1]
    ledger = figures["ledger"]
    assert ledger["received"] == ledger["sent"] == sum(row["sent"] for row in figures["funnel"])
    assert (ledger["not_received"], ledger["not_told"], ledger["unexplained"]) == (0, 0, 0)
    assert figures["otp_ms"]["count"] > 40
    assert 0 < figures["otp_ms"]["p50"] <= figures["otp_ms"]["p99"] <= figures["otp_ms"]["max"]
    assert figures["providers"]["fcm"]["answers"]["503 UNAVAILABLE"] > 0


def test_it_prints_what_a_person_wants_to_see(day: tuple[Path, dict[str, Any], str]) -> None:
    """Tables for the scenes, the funnel, the reasons, the passwords, the pace and the audit."""
    for title in ("The day", "Funnel", "Not sent, or not yet", "Pace of fcm", "The audit holds"):
        assert title in day[2]


def test_its_data_stays(day: tuple[Path, dict[str, Any], str]) -> None:
    """A question after its end starts the stack by itself and counts the same."""
    folder, figures, _ = day
    funnel = answer(folder, "funnel")
    assert funnel["total"]["sent"] == figures["audit"]["sent"]
