"""What a user can switch on and off, and what limits it: categories, caps and quiet hours."""

from dataclasses import dataclass

#: The longest that two instants of one local calendar day can lie apart, rounded up.
LOCAL_DAY_MS = 26 * 3_600_000


@dataclass(frozen=True, slots=True)
class QuietHours:
    """Minutes after local midnight, half-open; may span midnight."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Cap:
    """At most `limit` notifications a user in a window, of a category and on a channel.

    `"*"` stands for all of either. `window_ms` 0 is the user's own calendar day; any other
    window rolls. A limit of 0 lets nothing through (CAP-02).
    """

    limit: int
    category: str
    channel: str = "*"
    window_ms: int = 0

    @property
    def counts_ms(self) -> int:
        """How long a place can count under this cap."""
        return self.window_ms or LOCAL_DAY_MS


@dataclass(frozen=True, slots=True)
class Category:
    """A group of types that users accept or refuse together.

    `needs_consent`: nothing is sent before the user said yes. `caps` empty: no limit.
    """

    name: str
    marketing: bool
    needs_consent: bool
    quiet_hours: QuietHours | None
    caps: tuple[Cap, ...]
