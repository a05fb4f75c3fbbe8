"""Roles were down, or come back with old local state: what was said meanwhile is heard first."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from rocksdict import AccessType, Options, Rdict

from connectors.kafka.client_producer import ClientProducer
from connectors.kafka.view import OWNED_KEY
from harkara.chaos.attack import PROVIDERS, settings_of
from harkara.chaos.drain import drain
from harkara.chaos.expected import TENANT
from harkara.chaos.people import opt_out
from harkara.chaos.verdict import judge
from harkara.chaos.vitals import Vitals
from harkara.embedded.pipeline import EmbeddedPipeline
from harkara.settings import Settings
from harkara.wall_clock import WallClock
from streams.ids import key_hash
from streams.reasons import Reason
from streams.records.codec import to_json
from streams.records.notification import Notification
from streams.records.profile_command import Consent, RegisterDevice
from streams.topics import CHANGELOG_DELETE_RETENTION_MS, INGEST, PROFILES, ROUTER_APP, Lane

pytestmark = [pytest.mark.integration, pytest.mark.chaos, pytest.mark.timeout(240)]

USERS, COMMANDS, EVENTS = 200, 6_000, 1_500


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("downtime")


@pytest.fixture(scope="module")
def pipeline(folder: Path, cache: Path | None) -> Iterator[EmbeddedPipeline]:
    """A pipeline with short sessions, of whose folder the tests know."""
    settings = settings_of(Settings(folder=folder, cache=cache))
    with EmbeddedPipeline(settings, script=PROVIDERS) as started:
        yield started


def introduce(producer: ClientProducer, user: str) -> None:
    """Tell of a phone, and that offers are welcome."""
    now = WallClock().now_ms()
    for command in (
        RegisterDevice(user_id=user, at=now, device_id=f"{user}-0", token=f"token-{user}"),
        Consent(user_id=user, at=now, category="marketing", given=True),
    ):
        producer.send(PROFILES.full_name, user.encode(), to_json(command))


def offer(user: str, name: str) -> bytes:
    data = {"percent": 30, "until": "2027-03-20"}
    return to_json(Notification(user_id=user, type="weekly_offer", data=data, notification_id=name))


def test_opt_outs_queued_before_events_are_all_heard(pipeline: EmbeddedPipeline) -> None:
    """Thousands of opt-outs and then events wait while everybody is down: not one offer is sent."""
    topic, users = INGEST[Lane.BULK].full_name, [f"leaver-{number}" for number in range(USERS)]
    with ClientProducer(pipeline.addresses.kafka, WallClock()) as producer:
        for user in users:
            introduce(producer, user)
        producer.flush()
        drain(pipeline, 60)
        for role in ("router", "sender"):
            pipeline.halt(role)
        for number in range(COMMANDS):
            user = users[number % USERS]
            producer.send(PROFILES.full_name, user.encode(), opt_out(user, WallClock().now_ms()))
        producer.flush()
        for number in range(EVENTS):
            user = users[number % USERS]
            producer.send(topic, user.encode(), offer(user, f"late-{number}"))
        producer.flush()
    for role in ("router", "sender"):
        pipeline.resume(role)
    evidence = drain(pipeline, 120)
    digests = {key_hash(TENANT, f"late-{number}") for number in range(EVENTS)}
    decided = [rows[0] for (_, digest), rows in evidence.admissions.items() if digest in digests]
    assert len(decided) == EVENTS
    reasons = {getattr(decision, "reason", None) for row in decided for decision in row.decisions}
    assert reasons == {Reason.OPTED_OUT}
    assert [entry for entry in evidence.ledger if entry.address.startswith("token-leaver")] == []


def test_old_local_state_is_not_trusted(pipeline: EmbeddedPipeline, folder: Path) -> None:
    """A store of a former owner, older than tombstones live, is deleted; repeats are still known."""
    own, old = folder / "state" / "0" / ROUTER_APP, folder / "old"
    topic, users = INGEST[Lane.BULK].full_name, [f"keeper-{number}" for number in range(20)]
    with ClientProducer(pipeline.addresses.kafka, WallClock()) as producer:
        for user in users:
            introduce(producer, user)
        producer.flush()
        drain(pipeline, 60)
        pipeline.halt("router")
        shutil.copytree(own, old)
        pipeline.resume("router")
        events = [(user, offer(user, f"once-{user}-{number}")) for user in users for number in range(4)]
        for user, event in events:
            producer.send(topic, user.encode(), event)
        producer.flush()
        drain(pipeline, 60)
        pipeline.halt("router")
        shutil.rmtree(own)
        shutil.copytree(old, own)
        owned_long_ago(own)
        vitals = Vitals(pipeline)
        pipeline.resume("router")
        for user, event in events:
            producer.send(topic, user.encode(), event)
        producer.flush()
    verdict = judge(drain(pipeline, 120), pipeline.partitions)
    assert verdict.broken == {}
    assert verdict.figures["duplicates"] == len(events)
    deleted = [line for line in vitals.lines()["router"] if "local store deleted" in line]
    assert len(deleted) == 2 * pipeline.partitions


def owned_long_ago(state: Path) -> None:
    """Date every store of a folder so that tombstones may be gone since."""
    long_ago = WallClock().now_ms() - CHANGELOG_DELETE_RETENTION_MS
    for path in state.rglob("*.db"):
        store = Rdict(str(path), Options(raw_mode=True), access_type=AccessType.read_write())
        store.put(OWNED_KEY, b"%d" % long_ago)
        store.close()
