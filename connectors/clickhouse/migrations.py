"""The schema's files: numbered migrations that never change once applied, and views made anew.

In the files the database is `harkara`; another name can be put in its place.
"""

import hashlib
import re
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Final

DATABASE: Final = "harkara"

#: In the order they are applied.
MIGRATIONS: Final = ("001_delivery_event", "002_delivery_state", "003_funnel_hour")
#: In the order they rest on each other; a view is made anew whenever its text changes.
VIEWS: Final = (
    "v_delivery",
    "v_funnel",
    "v_reasons",
    "v_latency",
    "v_cost",
    "v_provider_health",
    "v_timeline",
)

_COMMENT: Final = re.compile(r"^\s*--.*\n", re.MULTILINE)
_END: Final = re.compile(r";[ \t]*(?:\n|\Z)")
_DATABASE: Final = re.compile(rf"\b{DATABASE}\b(?=\.\w|;|\Z)")


@dataclass(frozen=True)
class Migration:
    """One file of the schema."""

    name: str
    statements: tuple[str, ...]  # without comments; each may run again without harm
    checksum: str  # of the statements, so that comments may be mended
    repeatable: bool


def migrations(database: str = DATABASE) -> tuple[Migration, ...]:
    """Return every file of the schema, in order, for a database of this name."""
    files = resources.files("connectors.clickhouse") / "schema"
    numbered = [_read(files / f"{name}.sql", name, database, False) for name in MIGRATIONS]
    views = [_read(files / "views" / f"{name}.sql", name, database, True) for name in VIEWS]
    return (*numbered, *views)


def _read(file: Traversable, name: str, database: str, repeatable: bool) -> Migration:
    text = _COMMENT.sub("", file.read_text("utf-8"))
    statements = tuple(part.strip() for part in _END.split(text) if part.strip())
    checksum = hashlib.sha256("\n".join(statements).encode()).hexdigest()[:16]
    placed = tuple(_DATABASE.sub(database, statement) for statement in statements)
    return Migration(name, placed, checksum, repeatable)
