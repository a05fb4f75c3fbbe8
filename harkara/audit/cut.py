"""One cut through the system: up to where each topic is counted, and what was acknowledged by then."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from connectors.kafka.scan import Place, Scan, Stored
from streams.records.codec import read_control
from streams.topics import (
    ACTIVE_CHANNELS,
    CLAIMS,
    CONTROLS,
    DEAD_LETTERS,
    DELIVERIES,
    DELIVERY_EVENTS,
    FOLLOWUPS,
    INGEST,
    LANES,
    REJECTED,
    ROUTER_APP,
    SINK_APP,
    USER_STATE,
    changelog,
    sender_app,
)

INGESTED = tuple(topic.full_name for topic in INGEST.values())
RETURNED = tuple(topic.full_name for topic in FOLLOWUPS.values())
REFUSED = (REJECTED.full_name, DEAD_LETTERS.full_name)
FEED = (DELIVERY_EVENTS.full_name,)
STATE = (changelog(ROUTER_APP, USER_STATE),)
LANE_TOPICS = tuple(DELIVERIES[c, lane].full_name for c in ACTIVE_CHANNELS for lane in LANES)
CLAIM_LOGS = tuple(changelog(sender_app(c, lane), CLAIMS) for c in ACTIVE_CHANNELS for lane in LANES)
_GROUPS = (ROUTER_APP, SINK_APP, *(sender_app(c, lane) for c in ACTIVE_CHANNELS for lane in LANES))


@dataclass(frozen=True)
class Cut:
    """Where everything is looked at."""

    scan: Scan
    starts: dict[Place, int]
    ends: dict[Place, int]
    committed: dict[Place, int]  # by the group whose input it is
    now_ms: int  # of the roles' clock

    def places(self, topics: Sequence[str]) -> list[Place]:
        """All partitions of these topics."""
        return self.scan.places(topics)

    def records(self, topics: Sequence[str]) -> Iterator[Stored]:
        """Every record of these topics up to the cut."""
        yield from self._read({place: self.starts[place] for place in self.places(topics)})

    def unacknowledged(self, topics: Sequence[str]) -> Iterator[Stored]:
        """What the readers of these topics had not acknowledged, up to the cut."""
        yield from self._read({place: self.acknowledged(place) for place in self.places(topics)})

    def acknowledged(self, place: Place) -> int:
        """The first offset that its reader had not acknowledged."""
        return max(self.committed.get(place, 0), self.starts[place])

    @property
    def feed_is_whole(self) -> bool:
        """Whether no event of the feed was deleted for its age yet."""
        return all(self.starts[place] == 0 for place in self.places(FEED))

    def _read(self, starts: dict[Place, int]) -> Iterator[Stored]:
        for batch in self.scan.read({place: (start, self.ends[place]) for place, start in starts.items()}):
            yield from batch


def take(scan: Scan, wall_ms: int) -> Cut:
    """Take a cut.

    What was acknowledged is asked first: whatever lies before it has left its traces before the ends
    that are asked afterwards.
    """
    committed: dict[Place, int] = {}
    for group in _GROUPS:
        committed |= scan.committed(group)
    topics = (*INGESTED, *RETURNED, *REFUSED, *FEED, *STATE, *LANE_TOPICS, *CLAIM_LOGS, CONTROLS.full_name)
    places = scan.places(topics)
    ends, starts = scan.ends(places), scan.starts(places)
    cut = Cut(scan, starts, ends, committed, wall_ms)
    shift = 0
    for record in cut.records([CONTROLS.full_name]):
        shift = read_control(record.value).offset_ms if record.value else 0
    return Cut(scan, starts, ends, committed, wall_ms + shift)
