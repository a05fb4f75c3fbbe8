"""Structured logs: one line a fact, quiet by default, and no personal data.

A key that is not in `ALLOWED` is not written, only its name. That is cheaper and safer than
searching the values for something that looks like an address: nobody has to remember to hide
one. Exceptions are logged by type and place, never by message, since a message may quote data.
"""

import logging
import re
import sys
from pathlib import Path
from types import TracebackType
from typing import TextIO

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from harkara.library_noise import Repeats
from streams.errors import HarkaraError

#: Every key that a log line may carry; a value of one of them must never be about a person.
ALLOWED = frozenset(
    {
        # the line itself
        *("event", "level", "at", "role", "logger", "pid"),
        # where in Kafka
        *("topic", "partition", "offset", "generation", "lane", "channel", "block"),
        # what of ours
        *("tenant", "type", "template", "version", "campaign_id", "delivery_id", "notification_id"),
        *("provider", "account", "status", "reason", "rule", "scope", "table", "setting", "mend"),
        # how much and how long
        *("calls", "errors", "slow"),
        *("count", "records", "rows", "bytes", "lag", "attempt", "rate", "ms", "since_ms", "until_ms"),
        *("retry_ms", "repeats", "exit_code", "signal", "port", "address", "path"),
        # what went wrong
        *("error", "error_code", "frames", "withheld"),
    }
)

#: Loggers named after these packages follow the configured level.
OURS = ("streams", "agents", "tables", "connectors", "harkara")

_TELLTALE = re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]+|\+\d{7,15}\b")
_FRAMES = 12


def configure(role: str, level: str = "warning", form: str = "auto", stream: TextIO | None = None) -> None:
    """Send the logs of this process, ours and the libraries', to `stream` (standard error).

    `level` is the least that is written; libraries are never asked for less than warnings.
    `form` is `json`, `console`, or `auto`: console at a terminal, else JSON.
    """
    out = stream or sys.stderr
    as_console = form == "console" or (form == "auto" and out.isatty())
    least = logging.getLevelNamesMapping()[level.upper()]
    shared: list[Processor] = [
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
        _name_role(role),
        show_error,
        keep_allowed,
    ]
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,  # a command configures first, the role it becomes again
    )
    handler = logging.StreamHandler(out)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.add_logger_name, hide_telltales, *shared],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, _renderer(as_console)],
        )
    )
    handler.addFilter(Repeats())
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(max(least, logging.WARNING))
    for package in OURS:
        logging.getLogger(package).setLevel(least)


def keep_allowed(_: WrappedLogger, __: str, line: EventDict) -> EventDict:
    """Drop what is not allowed in a log line and name the keys that were dropped."""
    withheld = [key for key in line if key not in ALLOWED and not key.startswith("_")]
    for key in withheld:
        del line[key]
    if withheld:
        line["withheld"] = withheld
    return line


def hide_telltales(_: WrappedLogger, __: str, line: EventDict) -> EventDict:
    """Hide mail addresses and phone numbers in the free text of a library."""
    line["event"] = _TELLTALE.sub("<hidden>", str(line["event"]))
    return line


def show_error(_: WrappedLogger, __: str, line: EventDict) -> EventDict:
    """Replace an exception by its type and the frames it came through.

    Only our own errors bring their message: we wrote it, and it quotes no data.
    """
    error = line.pop("exc_info", None)
    if error is True:
        error = sys.exc_info()
    if isinstance(error, tuple):
        error = error[1]
    if isinstance(error, BaseException):
        line["error"] = type(error).__name__
        if isinstance(error, HarkaraError):
            line["mend"] = str(error)
        line["frames"] = _frames(error.__traceback__)
    return line


def _frames(trace: TracebackType | None) -> list[str]:
    frames = []
    while trace is not None:
        code = trace.tb_frame.f_code
        frames.append(f"{Path(code.co_filename).name}:{trace.tb_lineno} {code.co_name}")
        trace = trace.tb_next
    return frames[-_FRAMES:]


def _name_role(role: str) -> Processor:
    def add(_: WrappedLogger, __: str, line: EventDict) -> EventDict:
        line["role"] = role
        return line

    return add


def _renderer(as_console: bool) -> Processor:
    return structlog.dev.ConsoleRenderer() if as_console else structlog.processors.JSONRenderer()
