"""The five rules that make root-level packages safe: each is a test."""

import ast
import importlib
import importlib.metadata
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OURS = ("streams", "agents", "tables", "connectors", "harkara")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
SOURCES = sorted(path for name in OURS for path in (ROOT / name).rglob("*.py"))
LOCK = (ROOT / "requirements.lock").read_text()


@pytest.mark.parametrize("name", OURS)
def test_root_package_is_ours(name: str) -> None:
    """No other distribution provides a root package of ours, and Python imports it from this tree."""
    assert set(importlib.metadata.packages_distributions().get(name, [])) <= {"harkara"}
    file = importlib.import_module(name).__file__
    assert file is not None
    assert Path(file).is_relative_to(ROOT)


def test_every_root_package_is_declared() -> None:
    """The wheel's packages are named one by one, and every other tool is told the same names."""
    tool = PROJECT["tool"]
    found = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert set(tool["hatch"]["build"]["targets"]["wheel"]["packages"]) == set(OURS) == found
    assert set(OURS) <= set(tool["mypy"]["files"])
    assert set(tool["importlinter"]["root_packages"]) == set(OURS)


def test_it_cannot_be_uploaded() -> None:
    """A public index refuses the distribution: it is an application."""
    assert "Private :: Do Not Upload" in PROJECT["project"]["classifiers"]


@pytest.mark.parametrize("name", ["openai-agents", "tables", "agents", "connectors", "streams"])
def test_no_dependency_brings_a_package_of_our_name(name: str) -> None:
    """The lock holds no distribution that would install a root package of ours."""
    assert re.search(rf"^{name}==", LOCK, re.MULTILINE) is None


def test_nothing_is_discovered() -> None:
    """No module asks Faust to find agents by itself: it would swallow their import errors."""
    pattern = re.compile(r"autodiscover\s*=\s*(?!False)|\.discover\(|import venusian")
    assert [path.name for path in SOURCES if pattern.search(path.read_text())] == []


def test_agents_and_tables_are_named() -> None:
    """What has a name on the wire or on disk gets it explicitly, so that moving a module changes nothing."""
    unnamed = [
        f"{path.relative_to(ROOT)}:{call.lineno}"
        for path in SOURCES
        for call in ast.walk(ast.parse(path.read_text()))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
        if call.func.attr in ("agent", "Table")
        if not any(keyword.arg == "name" for keyword in call.keywords)
        if call.func.attr == "agent" or not call.args
    ]
    assert unnamed == []


def test_every_dependency_is_bounded_and_explained() -> None:
    """Each runtime dependency has bounds and a comment beside it that says what it is for."""
    block = (ROOT / "pyproject.toml").read_text().partition("dependencies = [")[2].partition("\n]")[0]
    lines = [line.strip() for line in block.splitlines() if line.strip().startswith('"')]
    assert len(lines) == len(PROJECT["project"]["dependencies"])
    for line in lines:
        assert re.fullmatch(r'"[^"]+(==|>=)[^"]+", # .+', line), line


def test_the_lock_holds_every_dependency_with_hashes() -> None:
    """requirements.lock satisfies pyproject.toml by name, and nothing in it comes without a hash."""
    asked = [*PROJECT["project"]["dependencies"], *PROJECT["dependency-groups"]["dev"]]
    for requirement in asked:
        name = re.split(r"[\[=<>;~ ]", requirement)[0]
        assert re.search(rf"^{name}==", LOCK, re.MULTILINE), name
    for pinned in re.split(r"^(?=[a-z])", LOCK, flags=re.MULTILINE)[1:]:
        assert "--hash=sha256:" in pinned


def test_exact_pins_are_what_is_installed() -> None:
    """The distributions whose private parts we replace are installed in exactly the pinned version."""
    exact = [text for text in PROJECT["project"]["dependencies"] if "==" in text.partition(";")[0]]
    assert len(exact) == 6
    for requirement in exact:
        name, version = re.split(r"(?:\[.*\])?==", requirement)
        assert importlib.metadata.version(name) == version


def test_help_imports_no_engine() -> None:
    """`harkara --help` loads neither Faust nor a client, so that it answers at once."""
    code = (
        "import sys, click.testing, harkara.cli as c;"
        "r = click.testing.CliRunner().invoke(c.main, ['--help']); assert r.exit_code == 0, r;"
        "print(sorted({'faust', 'rich', 'aiohttp', 'confluent_kafka', 'chdb'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"
