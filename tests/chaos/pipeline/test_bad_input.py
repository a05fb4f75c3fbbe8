"""Bad input: each record ends aside with its own reason, and the partition moves on."""

import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from harkara.chaos.attack import PROVIDERS, settings_of
from harkara.chaos.drain import drain
from harkara.chaos.evidence import Evidence
from harkara.embedded.pipeline import EmbeddedPipeline
from harkara.settings import Settings
from harkara.wall_clock import WallClock
from streams.ids import partition_of
from streams.records.codec import to_json
from streams.records.profile_command import SetContact
from streams.topics import PROFILES
from tests.chaos.pipeline.bad_input import GOOD, INGEST_TOPIC, Written, bad_records, user_elsewhere

pytestmark = [pytest.mark.integration, pytest.mark.chaos, pytest.mark.timeout(240)]

PARTITIONS = 4
USER = user_elsewhere(PARTITIONS)
BAD = {bad.name: bad for bad in bad_records(USER)}
POISONED = (sys.executable, "-P", str(Path(__file__).with_name("poisoned.py")))


class After(msgspec.Struct):
    """What is left when all was written and has settled."""

    written: Written
    evidence: Evidence

    def sent(self, notification_id: str) -> int:
        """Return how many messages went out for a notification."""
        own = {e.delivery_id for e in self.evidence.events if e.notification_id == notification_id}
        return sum(entry.accepted and entry.delivery_id in own for entry in self.evidence.ledger)


def good(notification_id: str) -> bytes:
    return msgspec.json.encode(
        {"user_id": USER, "notification_id": notification_id, "channels": ["sms"], **GOOD}
    )


@pytest.fixture(scope="module")
def after(tmp_path_factory: pytest.TempPathFactory, cache: Path | None) -> Iterator[After]:
    """A good event, everything bad, and a good event again, through a router with a faulty rule."""
    settings = settings_of(
        Settings(folder=tmp_path_factory.mktemp("bad"), cache=cache, partitions=PARTITIONS)
    )
    processes = {"sender": "sender", "sink": "sink"}
    number = SetContact(
        user_id=USER, at=WallClock().now_ms(), channel="sms", address="+8801711000001", verified=True
    )
    with EmbeddedPipeline(settings, script=PROVIDERS, processes=processes) as pipeline:
        pipeline.join("router", "router", command=POISONED)
        pipeline.wait("router")
        with Written(pipeline.addresses.kafka) as written:
            written.write("number", PROFILES.full_name, USER.encode(), to_json(number))
            written.write("before", INGEST_TOPIC, USER.encode(), good("before"))
            for bad in BAD.values():
                written.write(bad.name, bad.topic, bad.key, bad.value)
            written.write("elsewhere", INGEST_TOPIC, USER.encode(), good("elsewhere"), foreign=True)
            written.write("after", INGEST_TOPIC, USER.encode(), good("after"))
        yield After(written, drain(pipeline, 60))


@pytest.mark.parametrize("name", BAD)
def test_a_bad_record_ends_aside_with_its_reason(after: After, name: str) -> None:
    """It is refused once, with its coordinates: in `rejected`, or whole in `dead-letters`."""
    bad, place = BAD[name], after.written.places[name]
    rejected = [r.reason for r in after.evidence.rejected if (r.topic, r.partition, r.offset) == place]
    dead = [d for d in after.evidence.dead if (d.topic, d.partition, d.offset) == place]
    if bad.whole:
        assert [letter.reason for letter in dead] == [bad.reason]
        assert dead[0].value == bad.value
        assert rejected == []
    else:
        assert rejected == [bad.reason]
        assert dead == []


def test_the_partition_moves_on(after: After) -> None:
    """Good events before and after all of it are sent, each once."""
    assert after.sent("before") == 1
    assert after.sent("after") == 1


def test_an_event_on_a_foreign_partition_is_moved_and_sent(after: After) -> None:
    """Another client's partitioner is no reason to refuse: it comes home and is sent once."""
    _, partition, _ = after.written.places["elsewhere"]
    assert partition != partition_of(USER.encode(), PARTITIONS)
    assert after.sent("elsewhere") == 1
