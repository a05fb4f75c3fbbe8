"""Makes and checks topics: one list (`streams.topics`), applied idempotently."""

from dataclasses import dataclass

from confluent_kafka import KafkaException
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # its stub omits what it re-exports
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    ResourceType,
)

from streams.topics import (
    CHANGELOG_DELETE_RETENTION_MS,
    CHANGELOGS,
    CONTROLS,
    DEAD_LETTERS,
    HOUR_MS,
    INGEST,
    TOPICS,
    Topic,
    changelog,
)

_TIMEOUT_S = 30.0
#: A refused record may be large; its dead letter carries it in base64.
_LARGE_BYTES = {topic.full_name: 3 << 20 for topic in INGEST.values()} | {DEAD_LETTERS.full_name: 5 << 20}
#: Read whole by every process, so one partition keeps their order total.
_SINGLE = frozenset({CONTROLS.full_name, "harkara.catalog", "harkara.campaigns"})


@dataclass(frozen=True)
class Wanted:
    """How a topic should be."""

    name: str
    partitions: int
    config: dict[str, str]


@dataclass(frozen=True)
class Difference:
    """One thing that is not as it should be; `mend` says whether `apply` can change it."""

    topic: str
    what: str
    found: str
    wanted: str
    mendable: bool


def wanted_topics(partitions: int, lean: bool) -> list[Wanted]:
    """Return every topic and changelog; `lean` uses small segments, for a laptop's disk."""
    segment = {"segment.bytes": str(64 << 20)} if lean else {}
    topics = [
        Wanted(t.full_name, 1 if t.full_name in _SINGLE else partitions, _config(t) | segment) for t in TOPICS
    ]
    changelogs = [
        Wanted(
            changelog(app, table),
            partitions,
            {
                "cleanup.policy": "compact",
                "delete.retention.ms": str(CHANGELOG_DELETE_RETENTION_MS),
                "segment.bytes": str((16 if lean else 128) << 20),
                "min.cleanable.dirty.ratio": "0.3",
            },
        )
        for app, table in CHANGELOGS
    ]
    return topics + changelogs


def _config(topic: Topic) -> dict[str, str]:
    config = {"cleanup.policy": "compact" if topic.compacted else "delete"}
    if not topic.compacted:
        config["retention.ms"] = "-1" if topic.retention_ms is None else str(topic.retention_ms)
        config["segment.ms"] = str(6 * HOUR_MS if topic.retention_ms else 24 * HOUR_MS)
    if topic.full_name in _LARGE_BYTES:
        config["max.message.bytes"] = str(_LARGE_BYTES[topic.full_name])
    return config


def apply(bootstrap: str, wanted: list[Wanted], replication: int) -> list[str]:
    """Create what is missing and set what differs; returns what was done, a line each.

    Partition counts are never changed: a user's state would be on another partition.
    """
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 2})
    existing = set(admin.list_topics(timeout=_TIMEOUT_S).topics)
    missing = [w for w in wanted if w.name not in existing]
    done: list[str] = []
    if missing:
        futures = admin.create_topics(
            [NewTopic(w.name, w.partitions, replication, config=w.config) for w in missing],
            request_timeout=_TIMEOUT_S,
        )
        for name, future in futures.items():
            future.result()
            done.append(f"created {name}")
    for difference in check(bootstrap, wanted):
        if difference.mendable:
            _set(admin, difference)
            done.append(f"set {difference.topic} {difference.what} = {difference.wanted}")
    return done


def _set(admin: AdminClient, difference: Difference) -> None:
    entry = ConfigEntry(difference.what, difference.wanted, incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.TOPIC, difference.topic, incremental_configs=[entry])
    for future in admin.incremental_alter_configs([resource], request_timeout=_TIMEOUT_S).values():
        future.result()


def check(bootstrap: str, wanted: list[Wanted]) -> list[Difference]:
    """Return every difference between the broker and the list, without changing anything."""
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 2})
    metadata = admin.list_topics(timeout=_TIMEOUT_S).topics
    present = [w for w in wanted if w.name in metadata]
    differences = [
        Difference(w.name, "topic", "missing", "present", mendable=False)
        for w in wanted
        if w.name not in metadata
    ]
    configs = admin.describe_configs(
        [ConfigResource(ResourceType.TOPIC, w.name) for w in present], request_timeout=_TIMEOUT_S
    )
    found = {resource.name: future.result() for resource, future in configs.items()}
    for w in present:
        count = len(metadata[w.name].partitions)
        if count != w.partitions:
            differences.append(
                Difference(w.name, "partitions", str(count), str(w.partitions), mendable=False)
            )
        for name, value in w.config.items():
            entry = found[w.name].get(name)
            if entry is None or entry.value != value:
                differences.append(
                    Difference(
                        w.name, name, "unset" if entry is None else str(entry.value), value, mendable=True
                    )
                )
    return differences


def reachable(bootstrap: str, timeout_s: float = 3.0) -> str | None:
    """Return None when a broker answers, else why not."""
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    try:
        admin.list_topics(timeout=timeout_s)
    except KafkaException as error:
        return str(error.args[0])
    return None
