"""`harkara up` and what a newcomer types next: `profile`, `send`, and a question after the end."""

import signal
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from connectors.embedded.addresses import Addresses
from tests.harkara.cli.running import answer, run, start

pytestmark = [pytest.mark.integration, pytest.mark.timeout(240)]

_CODE = ("-d", 'code="4711"')


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder on which everything runs."""
    folder = tmp_path_factory.mktemp("up")
    with start(folder, "up") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        told = process.stdout.readline()
        assert "router, sender, sink are ready" in told, process.stderr.read()
        children = psutil.Process(process.pid).children(recursive=True)
        yield folder
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    assert [child for child in children if child.is_running()] == []
    assert Addresses.read(folder) is None


def test_an_event_reaches_the_phone(up: Path) -> None:
    """A user who was just made gets a password on both channels."""
    assert run(up, "profile", "u-1", "--sms", "+8801712345678", "--push", "token-1").returncode == 0
    sent = answer(up, "send", "otp", "--user", "u-1", *_CODE, "--wait")
    assert sent["end"] == "settled"
    last = {fact["channel"]: fact["status"] for fact in sent["facts"]}
    assert last == {"sms": "sent", "push": "sent"}


def test_a_key_counts_once(up: Path) -> None:
    """The same key again makes no delivery; with another body it is refused and the command fails."""
    first = ("send", "otp", "--user", "u-2", "--to", "sms=+8801712345679", "--channel", "sms", "--key", "k-1")
    statuses = [[fact["status"] for fact in answer(up, *first, *_CODE, "--wait")["facts"]] for _ in range(2)]
    assert statuses == [["queued", "sent"], ["duplicate"]]
    other = run(up, *first, "-d", 'code="4712"', "--wait")
    assert "rejected: key_reused" in other.stdout
    assert other.returncode == 1


def test_an_unfit_event_is_not_sent(up: Path) -> None:
    """The mistake is told in one line with its mend, and nothing reaches Kafka."""
    wrong_type = run(up, "send", "oto", "--user", "u-1")
    assert "did you mean otp?" in wrong_type.stderr
    no_data = run(up, "send", "otp", "--user", "u-1")
    assert no_data.stderr.startswith("harkara: missing_parameter at /data/code")
    assert (wrong_type.returncode, no_data.returncode) == (2, 2)
    assert wrong_type.stdout == no_data.stdout == ""


def test_an_event_for_later_is_held(up: Path) -> None:
    """It waits for its instant, and the command does not."""
    order = ("send", "order_shipped", "--user", "u-1", "-d", "order=BD-1", "-d", "day=Sunday")
    run(up, "profile", "u-1", "--sms", "+8801712345678")
    sent = answer(up, *order, "--channel", "sms", "--at", "+2h", "--wait")
    assert sent["end"] == "held"
    assert [(fact["status"], fact["reason"]) for fact in sent["facts"]] == [("deferred", "scheduled")]


def test_a_second_start_says_who_holds_the_folder(up: Path) -> None:
    """It ends at once and leaves the first alone."""
    second = run(up, "up")
    assert second.returncode == 2
    assert "is in use by process" in second.stderr
    assert Addresses.read(up) is not None


def test_the_whole_is_watched(up: Path) -> None:
    """A role that is killed comes back by itself, and what was sent meanwhile is not lost."""
    (sender,) = [
        process
        for process in psutil.process_iter(["cmdline", "environ"])
        if (process.info["cmdline"] or [])[-2:] == ["run", "sender"]
        and (process.info["environ"] or {}).get("HARKARA_FOLDER") == str(up)
    ]
    sender.kill()
    run(up, "profile", "u-3", "--sms", "+8801712345670")
    sent = answer(
        up, "send", "otp", "--user", "u-3", "--channel", "sms", *_CODE, "--wait", "--patience", "60"
    )
    assert [fact["status"] for fact in sent["facts"]] == ["queued", "sent"]
