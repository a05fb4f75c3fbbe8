"""Reads the catalog's folder: the only place where its files are touched."""

from collections.abc import Mapping
from pathlib import Path

from streams.catalog import Catalog, Problem, load
from streams.errors import SettingError
from streams.policy.calendar import known


def check_catalog(folder: Path, topics: Mapping[str, str] | None = None) -> Catalog | tuple[Problem, ...]:
    """Return the folder's catalog, or everything that is wrong with its files.

    `topics` maps further ingest topics to their tenants.
    """
    files: dict[str, str] = {}
    problems: list[Problem] = []
    for path in sorted(folder.rglob("*.yaml")):
        name = path.relative_to(folder).as_posix()
        try:
            files[name] = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            problems.append(Problem(name, "", f"cannot be read: {type(error).__name__}"))
    if problems:
        return tuple(problems)
    catalog = load(files, topics)
    if isinstance(catalog, Catalog):
        wrong = [tenant for tenant in catalog.tenants.values() if not known(tenant.zone)]
        if wrong:
            return tuple(
                Problem("tenants.yaml", f"/{tenant.name}/zone", "is no IANA zone") for tenant in wrong
            )
    return catalog


def read_catalog(folder: Path, topics: Mapping[str, str] | None = None) -> Catalog:
    """Return the folder's catalog; SettingError with the first problem if it cannot be used."""
    catalog = check_catalog(folder, topics)
    if isinstance(catalog, Catalog):
        return catalog
    more = f" (and {len(catalog) - 1} more)" if len(catalog) > 1 else ""
    raise SettingError("catalog", f"{catalog[0]}{more}; `harkara catalog check` shows all")
