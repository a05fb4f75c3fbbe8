"""What reaches the logs, and what never does."""

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
import structlog

from harkara import logs
from streams.errors import SettingError


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    """Logs of this test, as JSON; the process's logging is put back afterwards."""
    root = logging.getLogger()
    before, level = root.handlers, root.level
    out = io.StringIO()
    logs.configure("router", "info", "json", out)
    yield out
    root.handlers = before
    root.setLevel(level)
    for package in logs.OURS:
        logging.getLogger(package).setLevel(logging.NOTSET)
    structlog.reset_defaults()


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_one_line_a_fact(stream: io.StringIO) -> None:
    """A line is one JSON object with the event, the role, the level and the instant."""
    structlog.get_logger("agents.router").info("block decided", records=3, lane="bulk")
    (line,) = lines(stream)
    assert line.pop("at").endswith("Z")
    assert line == {"event": "block decided", "level": "info", "role": "router", "records": 3, "lane": "bulk"}


def test_keys_outside_the_allow_list_are_withheld(stream: io.StringIO) -> None:
    """An address that somebody logs by mistake does not reach the log; its key's name does."""
    structlog.get_logger("agents.sender").warning("refused", to="+8801700000001", user_id="u1", reason="gone")
    assert "+8801700000001" not in stream.getvalue()
    (line,) = lines(stream)
    assert line["withheld"] == ["to", "user_id"]
    assert line["reason"] == "gone"


def test_exception_is_logged_without_its_message(stream: io.StringIO) -> None:
    """A traceback may quote data, so type and frames are all that is written."""
    log = structlog.get_logger("agents.router")
    try:
        int("u-secret-address")
    except ValueError:
        log.exception("record set aside")
    assert "u-secret-address" not in stream.getvalue()
    (line,) = lines(stream)
    assert line["error"] == "ValueError"
    assert line["frames"][-1].startswith("test_logs.py:")


def test_our_own_error_brings_its_mend(stream: io.StringIO) -> None:
    """A `HarkaraError` says how to mend it, also in the log."""
    error = SettingError("HARKARA_KAFKA", "start it")
    structlog.get_logger("harkara").error("cannot start", exc_info=error)
    assert lines(stream)[0]["mend"] == "HARKARA_KAFKA: start it"


def test_libraries_are_quiet_and_scrubbed(stream: io.StringIO) -> None:
    """A library's warning is kept without addresses and without its exception's message."""
    library = logging.getLogger("aiokafka.consumer")
    library.info("chatter")
    try:
        int("u-secret-address")
    except ValueError:
        library.warning("cannot send to %s and %s", "a.b@example.com", "+8801700000001", exc_info=True)
    assert "example.com" not in stream.getvalue()
    assert "u-secret-address" not in stream.getvalue()
    (line,) = lines(stream)
    assert line["event"] == "cannot send to <hidden> and <hidden>"
    assert line["logger"] == "aiokafka.consumer"
    assert line["error"] == "ValueError"


def test_quiet_by_default() -> None:
    """Without a level only warnings and worse are written, also of our own."""
    out = io.StringIO()
    root = logging.getLogger()
    before, level = root.handlers, root.level
    try:
        logs.configure("router", form="console", stream=out)
        structlog.get_logger("agents.router").info("nothing to see")
        structlog.get_logger("agents.router").warning("look")
    finally:
        root.handlers = before
        root.setLevel(level)
        structlog.reset_defaults()
    assert "nothing to see" not in out.getvalue()
    assert "look" in out.getvalue()
