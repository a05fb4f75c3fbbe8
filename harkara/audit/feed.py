"""What the feed of delivery events says: each delivery's present standing, and its sends."""

from dataclasses import dataclass, field

from msgspec import DecodeError, Struct
from msgspec.json import Decoder

from connectors.clickhouse.stages import Standing, standing
from harkara.audit.cut import FEED, Cut
from harkara.audit.places import coordinate
from streams.statuses import Status


class Seen(Struct, gc=False):
    """The part of a delivery event that the audit reads."""

    delivery_id: str
    status: Status
    channel: str
    occurred_at_ms: int
    attempt: int = 0
    provider_message_id: str = ""
    src_topic: int = 0
    src_partition: int = 0
    src_offset: int = 0


read_seen = Decoder(Seen).decode


@dataclass
class Sends:
    """Sends by delivery, as (attempt, the provider's id), and attempts whose outcome nobody knows."""

    first: dict[str, tuple[int, str]] = field(default_factory=dict)
    more: dict[str, set[tuple[int, str]]] = field(default_factory=dict)  # beyond the first: rare
    unknown: dict[str, set[int]] = field(default_factory=dict)

    def note(self, event: Seen) -> None:
        """Keep what an event says about a send; the same again adds nothing."""
        if event.status is Status.SENT:
            self.add(event.delivery_id, (event.attempt, event.provider_message_id))
        elif event.status is Status.UNKNOWN:
            self.unknown.setdefault(event.delivery_id, set()).add(event.attempt)

    def add(self, name: str, send: tuple[int, str]) -> None:
        """Keep a send."""
        if self.first.setdefault(name, send) != send:
            self.more.setdefault(name, set()).add(send)

    def merged(self, other: "Sends") -> "Sends":
        """Return what both know."""
        both = Sends(dict(self.first), {name: set(sends) for name, sends in self.more.items()})
        for name, send in other.first.items():
            both.add(name, send)
        for name, sends in other.more.items():
            for send in sends:
                both.add(name, send)
        for name in self.unknown.keys() | other.unknown.keys():
            both.unknown[name] = self.unknown.get(name, set()) | other.unknown.get(name, set())
        return both


@dataclass
class Feed:
    """All events up to the cut, folded."""

    standings: dict[str, Standing] = field(default_factory=dict)
    sources: dict[str, int] = field(default_factory=dict)  # delivery -> coordinates of its source
    duplicates: set[int] = field(default_factory=set)  # coordinates of events that came again
    not_stored: dict[str, Standing] = field(default_factory=dict)  # of events on their way to ClickHouse
    sends: Sends = field(default_factory=Sends)


def read_feed(cut: Cut) -> Feed:
    """Fold every event; what nobody can read is the sink's to put aside."""
    found = Feed()
    for record in cut.records(FEED):
        try:
            event = read_seen(record.value or b"")
        except DecodeError:
            continue
        source = coordinate(event.src_topic, event.src_partition, event.src_offset)
        if event.status is Status.DUPLICATE:
            found.duplicates.add(source)
            continue
        own = event.delivery_id
        mine = standing(event.status, event.channel, event.attempt, event.occurred_at_ms)
        if own not in found.standings or mine > found.standings[own]:
            found.standings[own] = mine
        found.sources[own] = source
        found.sends.note(event)
        if record.offset >= cut.acknowledged((record.topic, record.partition)):
            held = found.not_stored.get(own)
            found.not_stored[own] = mine if held is None else max(held, mine)
    return found
