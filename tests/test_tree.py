"""Rules about the files themselves: length, and words that do not belong in them."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NOT_OURS = {".git", ".venv", ".harkara", "build", "dist", "__pycache__", "node_modules"}
CODE = {".py", ".sql", ".sh", ".yaml", ".yml", ".toml"}

# Put together from halves, so that this file is clean itself.
MACHINE_PATHS = re.compile(r"(?<![\w.])/(?:wo" r"rk|fa" r"rm|ro" r"ot|ho" r"me|Us" r"ers)/|/tm" r"p/\w")
REGISTRIES = re.compile(
    "|".join(
        re.escape(host)
        for host in (
            "pypi" + ".org",
            "pythonhosted" + ".org",
            "npmjs" + ".org",
            "maven" + ".org",
            "crates" + ".io",
            "golang" + ".org",
            "debian" + ".org",
        )
    )
)


def _files() -> list[Path]:
    found = []
    for path in ROOT.rglob("*"):
        parts = path.relative_to(ROOT).parts
        cache = any(part in NOT_OURS or part.endswith("_cache") or part == ".hypothesis" for part in parts)
        if not cache and path.is_file():
            found.append(path)
    return sorted(found)


FILES = _files()


def test_no_file_is_over_300_lines() -> None:
    """One step, one rule, one provider, one table a file: a longer one holds two things."""
    long = [
        str(path.relative_to(ROOT))
        for path in FILES
        if path.suffix in CODE and path.relative_to(ROOT).parts[0] != "contracts"  # made for other languages
        if len(path.read_text(encoding="utf-8").splitlines()) > 300
    ]
    assert long == []


def test_every_test_says_what_it_proves() -> None:
    """Each test function begins with a sentence about behaviour."""
    silent = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if node.name.startswith("test_") and not ast.get_docstring(node)
    ]
    assert silent == []


@pytest.mark.parametrize("pattern", [MACHINE_PATHS, REGISTRIES], ids=["machine paths", "registry hosts"])
def test_nothing_names_a_machine_or_a_registry(pattern: re.Pattern[str]) -> None:
    """A clone works anywhere: no file names a machine's path or a registry's host."""
    named = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in FILES
        if path.name != "LICENSE"  # not our text
        if (match := pattern.search(path.read_bytes().decode("utf-8", errors="replace")))
    ]
    assert named == []


def test_the_lock_names_no_registry() -> None:
    """The lock pins by name, version and hash, so it works behind any mirror."""
    text = (ROOT / "requirements.lock").read_text()
    assert "://" not in text
    assert "--index-url" not in text
