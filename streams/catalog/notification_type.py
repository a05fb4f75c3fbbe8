"""A type of notification: everything that is decided about it without asking its producer."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from streams.catalog.category import Cap, QuietHours
from streams.catalog.data_schema import DataSchema
from streams.catalog.retry import RetryPlan
from streams.records.unfit import Unfit
from streams.topics import Channel, Lane


class Quiet(StrEnum):
    """What happens to a message that meets its user's quiet hours."""

    HOLD = "hold"
    DROP = "drop"
    IGNORE = "ignore"


class UnknownPolicy(StrEnum):
    """What follows when nobody can tell whether a provider took a message."""

    RESEND = "resend"
    GIVE_UP = "give_up"
    WAIT = "wait"
    QUERY = "query"


@dataclass(frozen=True, slots=True)
class Step:
    """Channels that are tried side by side, `after_ms` after the admission."""

    channels: tuple[Channel, ...]
    after_ms: int = 0


@dataclass(frozen=True, slots=True)
class NotificationType:
    """One type, with what its category says already worked in.

    A mandatory type heeds neither preferences nor caps nor quiet hours. `holds_ms` is how long
    a delivery's place under caps (or the same-template rule) counts; 0: it takes none. A
    retired type admits nothing new and still serves what was admitted.
    """

    name: str
    category: str
    lane: Lane
    mandatory: bool
    direct: bool
    marketing: bool
    needs_consent: bool
    purpose: str
    steps: tuple[Step, ...]
    providers: Mapping[str, tuple[str, ...]]
    template: str
    version: int
    data: DataSchema
    ttl_ms: int
    dedup_window_ms: int
    same_template_ms: int
    caps: tuple[Cap, ...]
    holds_ms: int
    quiet: Quiet
    quiet_hours: QuietHours | None
    unknown: UnknownPolicy
    retry: RetryPlan
    attempts: int
    retired: bool

    @property
    def channels(self) -> tuple[Channel, ...]:
        """The channels of the first step."""
        return self.steps[0].channels

    def providers_for(self, channel: str) -> tuple[str, ...]:
        """Return the providers of a channel, in the order they are tried."""
        return self.providers.get(channel, ())

    def check(self, data: dict[str, Any]) -> Unfit | None:
        """Return what is wrong with an event's data, or None."""
        return self.data.check(data)
