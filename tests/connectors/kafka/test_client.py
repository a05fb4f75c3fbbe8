"""Kafka as a program beside the pipeline uses it: confirmed writes, a tail, lags."""

import random
from functools import partial

import pytest
from confluent_kafka import Consumer, TopicPartition

from connectors.embedded.addresses import Addresses
from connectors.kafka import admin
from connectors.kafka.client_producer import CRC32, ClientProducer, Stored
from connectors.kafka.lags import Lags
from connectors.kafka.scan import Scan
from connectors.kafka.tail import Tail
from streams.clock import FixedClock
from streams.errors import DeliveryFailed
from streams.ids import partition_of
from streams.topics import Topic

pytestmark = pytest.mark.integration

PARTITIONS = 4


@pytest.fixture
def topic(stack: Addresses, prefix: str) -> Topic:
    """A topic of this test's own."""
    made = Topic(200, prefix, "user_id", "notification", None)
    admin.apply(stack.kafka, [admin.Wanted(made.full_name, PARTITIONS, {})], replication=1)
    return made


def test_a_record_is_told_of_when_it_is_durable(stack: Addresses, topic: Topic) -> None:
    """Its place is where Kafka's own partitioner puts it, its instant that of the confirmation."""
    told: list[Stored] = []
    with ClientProducer(stack.kafka, FixedClock(7)) as producer:
        for user in (b"u-1", b"u-1", b"u-2"):
            producer.send(topic.full_name, user, b"{}", told.append)
        producer.flush()
    places = {(stored.partition, stored.offset) for stored in told}
    first = partition_of(b"u-1", PARTITIONS)
    assert {stored.at_ms for stored in told} == {7}
    assert {(first, 0), (first, 1)} <= places
    assert len(places) == 3


def test_another_partitioner_puts_users_elsewhere(stack: Addresses, topic: Topic) -> None:
    """Of fifty users most are on a partition that is not theirs."""
    told: dict[bytes, Stored] = {}
    users = [b"u-%d" % number for number in range(50)]
    with ClientProducer(stack.kafka, FixedClock(0), partitioner=CRC32) as producer:
        for user in users:
            producer.send(topic.full_name, user, b"{}", partial(told.__setitem__, user))
        producer.flush()
    strange = [user for user, stored in told.items() if stored.partition != partition_of(user, PARTITIONS)]
    assert len(told) == 50
    assert len(strange) > 20


def test_a_refused_record_is_an_error(stack: Addresses, prefix: str) -> None:
    """A record larger than its topic takes raises at the flush, and no success is told."""
    name = f"harkara.{prefix}"
    admin.apply(stack.kafka, [admin.Wanted(name, 1, {"max.message.bytes": "1000"})], replication=1)
    told: list[Stored] = []
    with ClientProducer(stack.kafka, FixedClock(0)) as producer:
        producer.send(name, b"u", random.Random(1).randbytes(5_000), told.append)
        with pytest.raises(DeliveryFailed, match=name):
            producer.flush()
    assert told == []


def test_a_tail_begins_where_the_topic_ends(stack: Addresses, topic: Topic) -> None:
    """What was there before is not read; everything after is, and then nothing is left."""
    with ClientProducer(stack.kafka, FixedClock(0)) as producer:
        producer.send(topic.full_name, b"u-1", b"before")
        producer.flush()
        with Tail(stack.kafka, (topic,)) as tail:
            producer.send(topic.full_name, b"u-1", b"after")
            producer.send(topic.full_name, b"u-2", b"after")
            producer.flush()
            taken = [message.value() for _ in range(20) for message in tail.take(0.2)]
            assert taken == [b"after", b"after"]
            assert sum(tail.ends().values()) == sum(tail.starts.values()) + 2


def test_a_lag_is_what_is_not_committed(stack: Addresses, topic: Topic, prefix: str) -> None:
    """A group that never committed lags by everything that is kept."""
    with ClientProducer(stack.kafka, FixedClock(0)) as producer:
        for number in range(10):
            producer.send(topic.full_name, b"u-%d" % number, b"{}")
        producer.flush()
    lags = Lags(stack.kafka, {prefix: (topic,)})
    assert lags.measure() == {prefix: 10}
    _commit(stack.kafka, prefix, topic)
    assert lags.measure() == {prefix: 0}


def _commit(bootstrap: str, group: str, topic: Topic) -> None:
    """Acknowledge everything, as a member of the group would."""

    ends = (scan := Scan(bootstrap)).ends(scan.places([topic.full_name]))
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": group, "enable.auto.commit": False})
    consumer.commit(offsets=[TopicPartition(*place, end) for place, end in ends.items()], asynchronous=False)
    consumer.close()
