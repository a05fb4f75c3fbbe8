"""Says once what is wrong, however often it is met."""

from typing import Any

from structlog.typing import FilteringBoundLogger


class Once:
    """Logs a condition when it begins, when it changes and when it ends, never while it stays.

    A condition is named by a word, for example `kafka`; its facts are what is logged with it.
    """

    def __init__(self, log: FilteringBoundLogger) -> None:
        self._log = log
        self._told: dict[str, tuple[str, dict[str, Any]]] = {}
        self._repeats: dict[str, int] = {}

    def warn(self, condition: str, event: str, **facts: Any) -> None:
        """Log `event` as a warning, unless this condition was last told with the same facts."""
        if self._told.get(condition) == (event, facts):
            self._repeats[condition] += 1
            return
        self._told[condition] = (event, facts)
        self._repeats[condition] = 0
        self._log.warning(event, **facts)

    def over(self, condition: str, event: str, **facts: Any) -> None:
        """Log that a condition which was told has ended, and how often it had been repeated."""
        if self._told.pop(condition, None) is not None:
            self._log.warning(event, repeats=self._repeats.pop(condition), **facts)
