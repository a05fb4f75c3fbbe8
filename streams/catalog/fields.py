"""One mapping of a catalog file, read key by key; what is wrong is collected, never raised."""

import difflib
from collections.abc import Collection, Iterator
from enum import StrEnum
from typing import TypeVar

from streams.catalog.durations import milliseconds
from streams.catalog.problem import Problem

E = TypeVar("E", bound=StrEnum)


class Fields:
    """Every reader returns a usable value even after a problem, so that all problems are found.

    `close` names the keys nobody asked for, each with the nearest one that exists.
    """

    def __init__(self, path: str, pointer: str, raw: object, problems: list[Problem]) -> None:
        self._path = path
        self._pointer = pointer
        self._problems = problems
        self._asked: list[str] = []
        if raw is not None and not isinstance(raw, dict):
            self.wrong("", "must be a mapping of keys to values")
        self._raw: dict[object, object] = raw if isinstance(raw, dict) else {}

    def __contains__(self, key: str) -> bool:
        return key in self._raw

    def wrong(self, key: str, message: str) -> None:
        """Note a problem with a key."""
        pointer = f"{self._pointer}/{key}" if key else self._pointer
        self._problems.append(Problem(self._path, pointer, message))

    def raw(self, key: str) -> object:
        """Return the value as it stands, None if it is not there."""
        self._asked.append(key)
        return self._raw.get(key)

    def text(self, key: str, default: str | None = None) -> str:
        """Return a text; without a default it must be there."""
        value = self.raw(key)
        if isinstance(value, str) and value.strip():
            return value
        if value is None and default is not None:
            return default
        self.wrong(key, "is missing" if value is None else "must be a text")
        return default or ""

    def flag(self, key: str, default: bool = False) -> bool:
        """Return true or false."""
        value = self.raw(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            self.wrong(key, "must be true or false")
            return default
        return value

    def whole(self, key: str, default: int, least: int, most: int) -> int:
        """Return a whole number within bounds."""
        value = self.raw(key)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            self.wrong(key, f"must be a whole number from {least} to {most}")
            return default
        return value

    def duration(self, key: str, default_ms: int | None, least_ms: int, most_ms: int) -> int:
        """Return a length of time in milliseconds; without a default it must be there."""
        value = self.raw(key)
        if value is None and default_ms is not None:
            return default_ms
        found = milliseconds(value) if isinstance(value, str) else None
        if found is None or not least_ms <= found <= most_ms:
            allowed = f"{least_ms // 1000}s to {most_ms // 1000}s"
            self.wrong(key, "is missing" if value is None else f'must be a duration like "5m", {allowed}')
            return default_ms or least_ms
        return found

    def choice(self, key: str, options: type[E], default: E | None = None) -> E:
        """Return a member of an enumeration by its value; without a default it must be there."""
        value = self.raw(key)
        if value is None and default is not None:
            return default
        for option in options:
            if option.value == value:
                return option
        names = [option.value for option in options]
        self.wrong(key, f"is missing: {', '.join(names)}" if value is None else not_one_of(value, names))
        return default or next(iter(options))

    def name(self, key: str, names: Collection[str], default: str | None = None) -> str:
        """Return one of the names that exist."""
        value = self.text(key, default)
        if value and value not in names:
            self.wrong(key, not_one_of(value, names))
            return default or ""
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts, each once."""
        value = self.raw(key)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
            self.wrong(key, "must be a list of texts")
            return ()
        if len(set(value)) < len(value):
            self.wrong(key, "names something twice")
        return tuple(dict.fromkeys(value))

    def fields(self, key: str) -> "Fields":
        """Return a mapping inside this one."""
        return Fields(self._path, f"{self._pointer}/{key}", self.raw(key), self._problems)

    def each(self, key: str) -> Iterator["Fields"]:
        """Return the mappings of a list."""
        value = self.raw(key)
        if value is not None and not isinstance(value, list):
            self.wrong(key, "must be a list")
            return
        for index, item in enumerate(value or ()):
            yield Fields(self._path, f"{self._pointer}/{key}/{index}", item, self._problems)

    def names(self) -> tuple[str, ...]:
        """Return all keys; for mappings whose keys are names."""
        return tuple(str(key) for key in self._raw)

    def close(self) -> None:
        """Refuse what nobody asked for."""
        for key in self.names():
            if key not in self._asked:
                self.wrong(key, not_one_of(key, self._asked))


def not_one_of(value: object, names: Collection[str]) -> str:
    """Say that a name does not exist, and which one may be meant."""
    near = difflib.get_close_matches(str(value), names, 1, cutoff=0.5)
    hint = f'; did you mean "{near[0]}"?' if near else f": there are {', '.join(sorted(names)) or 'none'}"
    return f'"{value}" is not known{hint}'
