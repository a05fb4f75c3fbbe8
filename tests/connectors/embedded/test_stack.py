import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from signal import SIGKILL, SIGTERM

import psutil
import pytest

from connectors.embedded.addresses import Addresses
from connectors.embedded.errors import FolderHeld, PartFailed
from connectors.embedded.stack import Stack
from tests.connectors.embedded.servers import clickhouse, consume, produce, valkey

pytestmark = pytest.mark.integration
TABLE = "CREATE TABLE t (a UInt8) ENGINE = MergeTree ORDER BY a"


@pytest.fixture
def own(tmp_path: Path, cache: Path | None) -> Iterator[Stack]:
    """A stack that a test may ill-treat."""
    with Stack(tmp_path, cache=cache) as stack:
        yield stack


def store(addresses: Addresses) -> None:
    """Put one thing into each server."""
    produce(addresses.kafka, "kept", b"record")
    valkey(addresses).set("kept", "value")
    clickhouse(addresses).command(TABLE)
    clickhouse(addresses).insert("t", [(7,)])


def assert_stored(addresses: Addresses) -> None:
    """Find again what `store` put there."""
    assert consume(addresses.kafka, "kept", 1) == [b"record"]
    assert valkey(addresses).get("kept") == b"value"
    assert clickhouse(addresses).command("SELECT a FROM t") == 7


def test_a_restart_keeps_the_data(own: Stack) -> None:
    """A record, a key and a row are there after a clean stop and a start."""
    store(own.addresses)
    own.stop()
    own.start()
    assert_stored(own.addresses)


def test_killed_parts_come_back_with_all_that_was_acknowledged(own: Stack) -> None:
    """Each part is started again on its old port, and lost nothing by the kill."""
    store(own.addresses)
    for name in ("kafka", "valkey", "clickhouse"):
        own.kill(name, SIGKILL)
    own.wait()
    assert_stored(own.addresses)
    assert [status.last_exit for status in own.status()] == [-SIGKILL] * 3


def test_a_halted_part_stays_down_until_it_is_resumed(own: Stack) -> None:
    """So that an outage lasts as long as a test wants, at the same address."""
    store(own.addresses)
    own.halt("kafka")
    assert {status.name for status in own.status() if status.pid is None} == {"kafka"}
    own.resume("kafka")
    own.wait("kafka")
    assert_stored(own.addresses)


def test_a_second_start_on_the_same_folder_names_the_holder(own: Stack, tmp_path: Path) -> None:
    """And does not disturb the first."""
    with pytest.raises(FolderHeld, match=r"in use by process \d+"):
        Stack(tmp_path).start()
    assert Addresses.read(tmp_path) == own.addresses
    own.wait()


def test_data_in_use_elsewhere_is_said_in_the_error(own: Stack, tmp_path: Path, cache: Path | None) -> None:
    """ClickHouse data has one owner; a stack whose ClickHouse folder is another's says so."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "clickhouse").symlink_to(tmp_path / "clickhouse")
    with pytest.raises(PartFailed, match="clickhouse is in use by process"):
        Stack(other, kafka="127.0.0.1:9", redis="redis://127.0.0.1:9", cache=cache).start()


def test_given_servers_are_used_in_place_of_parts(tmp_path: Path) -> None:
    """A part whose address is given is not started, and its address is passed on."""
    given = {"kafka": "127.0.0.1:9", "redis": "redis://127.0.0.1:9", "clickhouse": "http://127.0.0.1:9"}
    with Stack(tmp_path, **given) as stack:  # type: ignore[arg-type]  # a mapping of the keyword arguments
        assert stack.addresses == Addresses(**given)
        assert stack.status() == ()


def running(tmp_path: Path, cache: Path | None) -> "tuple[subprocess.Popen[str], list[psutil.Process]]":
    """Run a stack in a process of its own; return it and its parts."""
    command = [sys.executable, "-m", "connectors.embedded", str(tmp_path), *([str(cache)] if cache else [])]
    root = Path(__file__).parents[3]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root)
    assert process.stdout is not None
    assert process.stdout.readline().startswith("ready")
    return process, psutil.Process(process.pid).children()


def assert_ended(parts: list[psutil.Process]) -> None:
    """None runs any more, though whoever inherits orphans may not have taken note yet."""
    _, alive = psutil.wait_procs(parts, timeout=30)
    assert alive == []


def test_parts_end_with_a_killed_supervisor(tmp_path: Path, cache: Path | None) -> None:
    """Nothing is left running, and the folder can be used again at once, with its data."""
    process, parts = running(tmp_path, cache)
    assert len(parts) == 3
    with process:
        addresses = Addresses.read(tmp_path)
        assert addresses is not None
        store(addresses)
        process.kill()
    assert Addresses.read(tmp_path) is None
    with Stack(tmp_path, cache=cache) as again:
        assert_ended(parts)
        assert_stored(again.addresses)


def test_sigterm_stops_everything_cleanly(tmp_path: Path, cache: Path | None) -> None:
    """The supervisor ends with 0, its parts before it, and the addresses are gone."""
    process, parts = running(tmp_path, cache)
    with process:
        process.send_signal(SIGTERM)
        assert process.wait() == 0
    assert_ended(parts)
    assert not (tmp_path / "stack.json").exists()
