"""What is wrong with a file of the catalog: a value, so that all of them can be shown at once."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake: the file, a JSON pointer into it, and how to mend it."""

    path: str
    pointer: str
    message: str

    def __str__(self) -> str:
        place = f"{self.path} {self.pointer}".rstrip()
        return f"{place}: {self.message}"
