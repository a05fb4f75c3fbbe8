"""A small topic that every process knows whole."""

import asyncio

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from connectors.embedded.addresses import Addresses
from connectors.kafka.feed import Feed
from streams.topics import Topic

pytestmark = pytest.mark.integration


@pytest.fixture
def topic(stack: Addresses, prefix: str) -> Topic:
    """A compacted topic of two partitions."""
    topic = Topic(950, f"{prefix}-feed", "scope", "anything", None, compacted=True)
    admin = AdminClient({"bootstrap.servers": stack.kafka})
    wanted = NewTopic(topic.full_name, 2, 1, config={"cleanup.policy": "compact"})
    admin.create_topics([wanted])[topic.full_name].result()
    return topic


def _write(stack: Addresses, topic: Topic, *rows: tuple[bytes, bytes | None], transaction: str = "") -> None:
    more = {"transactional.id": transaction} if transaction else {}
    producer = Producer({"bootstrap.servers": stack.kafka, **more})
    if transaction:
        producer.init_transactions()
        producer.begin_transaction()
    for key, value in rows:
        producer.produce(topic.full_name, value, key, 0)
    producer.flush()
    if transaction:
        producer.commit_transaction()


async def test_all_of_it_is_known_before_anything_is_decided(stack: Addresses, topic: Topic) -> None:
    """Read to the end, an empty partition and a transaction's marker there included, then followed."""
    known: dict[bytes, bytes | None] = {}
    told = asyncio.Event()

    def apply(key: bytes, value: bytes | None) -> None:
        known[key] = value
        told.set()

    _write(stack, topic, (b"a", b"1"), (b"b", b"2"), (b"a", None))
    _write(stack, topic, (b"c", b"3"), transaction=topic.name)
    feed = Feed(stack.kafka, topic, apply)
    await asyncio.to_thread(feed.read_to_end)
    assert known == {b"a": None, b"b": b"2", b"c": b"3"}
    told.clear()
    feed.follow(asyncio.get_running_loop())
    _write(stack, topic, (b"b", b"4"))
    await told.wait()
    assert known[b"b"] == b"4"
    feed.stop()


async def test_an_empty_topic_is_known_at_once(stack: Addresses, topic: Topic) -> None:
    """There is nothing to wait for."""
    feed = Feed(stack.kafka, topic, lambda *_: None)
    await asyncio.to_thread(feed.read_to_end)
    feed.stop()
