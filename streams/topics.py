"""Every topic as data: key, record, partitions, retention, and whether it is public.

Names are wire contracts: explicit, never derived from code, never changed without a migration.
"""

from enum import StrEnum

from msgspec import Struct

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
PREFIX = "harkara."


class Lane(StrEnum):
    """How urgent a type is; the type decides, never the producer (R-055)."""

    CRITICAL = "critical"
    TRANSACTIONAL = "transactional"
    BULK = "bulk"


class Channel(StrEnum):
    """A way to reach a person."""

    PUSH = "push"
    SMS = "sms"
    EMAIL = "email"
    INBOX = "inbox"
    WEBHOOK = "webhook"


LANES = tuple(Lane)
CHANNELS = tuple(Channel)
#: Channels that have senders in this release.
ACTIVE_CHANNELS = (Channel.PUSH, Channel.SMS)


class Topic(Struct, frozen=True):
    """One topic. `number` is its wire id: it names the topic inside state rows, so it never changes."""

    number: int
    name: str
    key: str  # what the key means
    value: str  # the record's name in `streams.records`
    retention_ms: int | None  # None: for ever, or compacted
    compacted: bool = False
    public: bool = False  # producers or other systems read or write it
    by_user: bool = False  # co-partitioned with the router's tables

    @property
    def full_name(self) -> str:
        return PREFIX + self.name


def _lanes(start: int, family: str, value: str, *, public: bool) -> dict[Lane, Topic]:
    return {
        lane: Topic(start + i, f"{family}.{lane}", "user_id", value, 7 * DAY_MS, public=public, by_user=True)
        for i, lane in enumerate(LANES)
    }


INGEST = _lanes(1, "ingest", "notification", public=True)
FOLLOWUPS = _lanes(4, "followups", "followup", public=False)
PROFILES = Topic(7, "profiles", "user_id", "profile_command", 7 * DAY_MS, public=True, by_user=True)
CONSENT = Topic(8, "consent", "user_id", "consent", None, by_user=True)
STOPS = Topic(9, "stops", "user_id", "stop", 2 * DAY_MS, by_user=True)
DELIVERY_EVENTS = Topic(10, "delivery-events", "delivery_id", "delivery_event", 7 * DAY_MS, public=True)
RECEIPTS = Topic(11, "receipts", "delivery_id", "receipt", 7 * DAY_MS)
CAMPAIGNS = Topic(12, "campaigns", "campaign_id", "campaign", None, compacted=True)
CATALOG = Topic(13, "catalog", "kind/name", "catalog_entry", None, compacted=True)
CONTROLS = Topic(14, "controls", "scope", "control", None, compacted=True)
SUPPRESSIONS = Topic(15, "suppressions", "address hash", "suppression", None, compacted=True)
REJECTED = Topic(16, "rejected", "the producer's key", "rejection", 7 * DAY_MS, public=True)
DEAD_LETTERS = Topic(17, "dead-letters", "the original key", "dead_letter", 30 * DAY_MS)

DELIVERIES: dict[tuple[Channel, Lane], Topic] = {
    (channel, lane): Topic(
        20 + 3 * c + i, f"deliveries.{channel}.{lane}", "user_id", "delivery", 3 * DAY_MS, by_user=True
    )
    for c, channel in enumerate(CHANNELS)
    for i, lane in enumerate(LANES)
}

TOPICS: tuple[Topic, ...] = (
    *INGEST.values(),
    *FOLLOWUPS.values(),
    PROFILES,
    CONSENT,
    STOPS,
    *DELIVERIES.values(),
    DELIVERY_EVENTS,
    RECEIPTS,
    CAMPAIGNS,
    CATALOG,
    CONTROLS,
    SUPPRESSIONS,
    REJECTED,
    DEAD_LETTERS,
)

#: Number in a state row for what the schedule fires (it is no topic).
SCHEDULE_NUMBER = 0

BY_NAME: dict[str, Topic] = {topic.full_name: topic for topic in TOPICS}

#: Faust apps: consumer group, changelogs and scaling of each role.
ROUTER_APP = "harkara-router"
SINK_APP = "harkara-sink"
TRACKER_APP = "harkara-tracker"

#: Tables (a changelog is named `<app>-<table>-changelog`).
USER_STATE = "user-state"
PREFERENCES = "preferences"
CLAIMS = "claims"
STOPS_TABLE = "stops"

#: Tombstones stay this long in every changelog; a local store older than half of it is not trusted.
CHANGELOG_DELETE_RETENTION_MS = 7 * DAY_MS


def sender_app(channel: Channel, lane: Lane) -> str:
    """Return the app id of the senders of one channel and lane."""
    return f"harkara-sender-{channel}-{lane}"


def changelog(app: str, table: str) -> str:
    """Return the changelog's name as Faust derives it."""
    return f"{app}-{table}-changelog"


#: Every changelog: topic name -> number of the table's owner app and table.
CHANGELOGS: tuple[tuple[str, str], ...] = (
    (ROUTER_APP, USER_STATE),
    (ROUTER_APP, PREFERENCES),
    *(
        (sender_app(c, lane), table)
        for c in ACTIVE_CHANNELS
        for lane in LANES
        for table in (CLAIMS, STOPS_TABLE)
    ),
)
