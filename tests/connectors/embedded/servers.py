"""Short clients for what the tests of the stack write and read."""

from typing import Any
from urllib.parse import urlsplit

import clickhouse_connect
import redis
from clickhouse_connect.driver.client import Client
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from connectors.embedded.addresses import Addresses


def produce(kafka: str, topic: str, *values: bytes) -> None:
    """Make the topic and write the values; returns when the broker acknowledged them."""
    admin = AdminClient({"bootstrap.servers": kafka})
    admin.create_topics([NewTopic(topic, 1, 1)])[topic].result()
    producer = Producer({"bootstrap.servers": kafka, "acks": "all"})
    for value in values:
        producer.produce(topic, value)
    assert producer.flush(30) == 0


def consume(kafka: str, topic: str, count: int) -> list[bytes]:
    """Read that many values from the start of the topic."""
    consumer = Consumer({"bootstrap.servers": kafka, "group.id": "reads", "enable.auto.commit": False})
    consumer.assign([TopicPartition(topic, 0, 0)])
    values: list[bytes] = []
    while len(values) < count:
        for message in consumer.consume(count - len(values), timeout=30):
            assert message.error() is None
            values.append(bytes(message.value() or b""))
    consumer.close()
    return values


def valkey(addresses: Addresses) -> "redis.Redis":
    """Return an ordinary client."""
    return redis.Redis.from_url(addresses.redis)


def clickhouse(addresses: Addresses, **options: Any) -> Client:
    """Return the ordinary HTTP client with its defaults."""
    return clickhouse_connect.get_client(**{**clickhouse_login(addresses), **options})


def clickhouse_login(addresses: Addresses) -> dict[str, Any]:
    """Return what a client needs to know."""
    url = urlsplit(addresses.clickhouse)
    return {"host": url.hostname, "port": url.port, "username": url.username, "password": url.password}
