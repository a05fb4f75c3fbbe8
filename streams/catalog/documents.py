"""YAML as its authors mean it: version 1.2's booleans and numbers, and no key twice.

In version 1.1, PyYAML's, `off` is false and `22:00` is 1,320.
"""

import re
from collections.abc import Hashable
from typing import Any

import yaml

from streams.catalog.problem import Problem


class _Loader(yaml.SafeLoader):
    """SafeLoader with the core schema of YAML 1.2."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012  as in yaml

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if key.value in seen:
                raise yaml.MarkedYAMLError(
                    problem=f"{key.value} stands here twice", problem_mark=key.start_mark
                )
            seen.add(key.value)
        return super().construct_mapping(node, deep)


for tag, pattern, first in (
    ("bool", r"true|false", "tf"),
    ("int", r"[-+]?(?:0|[1-9][0-9]*)", "-+0123456789"),
    ("float", r"[-+]?[0-9]+\.[0-9]+", "-+0123456789"),
    ("null", r"null|~|", ["n", "~", ""]),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(f"(?:{pattern})$"), list(first))


def read_document(path: str, text: str) -> object:
    """Return the document's plain value, or the Problem that keeps it from being read."""
    try:
        return yaml.load(text, Loader=_Loader)  # noqa: S506  a SafeLoader
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"line {mark.line + 1}: " if mark is not None else ""
        return Problem(path, "", f"{where}{error.problem or error.context}")
    except (yaml.YAMLError, ValueError) as error:
        return Problem(path, "", f"is not YAML: {error}")
