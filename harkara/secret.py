"""A value that is never shown by accident."""

import hmac


class Secret:
    """Holds a secret; every way of printing it gives `***`, only `reveal` gives the text."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """Return the text, for the one place that needs it."""
        return self._text

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret):
            return NotImplemented
        # Constant time, so that comparing never tells how much of a guess was right.
        return hmac.compare_digest(self._text.encode(), other._text.encode())

    def __hash__(self) -> int:
        return hash((Secret, self._text))

    def __repr__(self) -> str:
        return "***"
