"""Bursts on a real librdkafka: everything is delivered, or the process ends."""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from connectors.kafka.producer import BlockProducer, ProducerSettings
from streams.ids import partition_of

PARTITIONS = 4


@pytest.fixture(scope="module")
def mock() -> Iterator[str]:
    """The address of librdkafka's own mock cluster, which makes a topic when it is first asked for."""
    owner = Producer({"test.mock.num.brokers": 1, "log_level": 0})
    broker = next(iter(owner.list_topics(timeout=10).brokers.values()))
    assert len(owner.list_topics("t", timeout=10).topics["t"].partitions) == PARTITIONS
    yield f"{broker.host}:{broker.port}"
    owner.flush(0)  # the cluster lives as long as its owner


def _settings(bootstrap: str) -> ProducerSettings:
    return ProducerSettings(bootstrap, "test", linger_ms=1.0)


def _records(*values: bytes) -> list[dict[str, Any]]:
    return [{"key": b"k", "value": value} for value in values]


def _wait(producer: BlockProducer) -> None:
    while producer.in_flight:
        producer.poll()


def _read(address: str, topic: str, partition: int) -> list[tuple[bytes | None, bytes | None]]:
    consumer = Consumer({"bootstrap.servers": address, "group.id": "reads", "enable.auto.commit": False})
    _, end = consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=10)
    consumer.assign([TopicPartition(topic, partition, 0)])
    found: list[tuple[bytes | None, bytes | None]] = []
    while len(found) < end:
        found += [(message.key(), message.value()) for message in consumer.consume(end, 1.0)]
    consumer.close()
    return found


def test_one_callback_tells_that_a_whole_burst_is_durable(mock: str) -> None:
    """It gets the highest offset; the queue is empty again; the order is kept."""
    producer = BlockProducer(_settings(mock))
    told: list[int] = []
    values = [b"%d" % number for number in range(1_000)]
    producer.send("whole", _records(*values), 5_000, 2, told.append)
    assert (producer.in_flight, producer.in_flight_bytes) == (1_000, 5_000)
    _wait(producer)
    assert told == [999]
    assert producer.in_flight_bytes == 0
    assert [value for _, value in _read(mock, "whole", 2)] == values


def test_a_burst_goes_to_its_partition_or_by_keys(mock: str) -> None:
    """A partition holds for all of a burst, whatever its keys; without one each goes by murmur2."""
    producer = BlockProducer(_settings(mock))
    told: list[int] = []
    keys = [b"user-%d" % number for number in range(8)]
    producer.send("parts", [{"key": key, "value": b"kept"} for key in keys], 20, 3, told.append)
    producer.send("parts", [{"key": key, "value": b"keyed"} for key in keys], 20, -1, told.append)
    _wait(producer)
    assert len(told) == 2
    for partition in range(PARTITIONS):
        found = _read(mock, "parts", partition)
        assert {key for key, value in found if value == b"kept"} == (set(keys) if partition == 3 else set())
        own = {key for key in keys if partition_of(key, PARTITIONS) == partition}
        assert {key for key, value in found if value == b"keyed"} == own


def test_tombstones_and_headers_are_sent(mock: str) -> None:
    """A row's deletion is a record without a value; a headed record tells when it is durable."""
    producer = BlockProducer(_settings(mock))
    told: list[int] = []
    producer.send("headed", [{"key": b"gone", "value": None}], 4, 1, told.append)
    producer.send_headed("headed", 1, b"k", b"v", [("origin", b"x")], told.append)
    assert producer.in_flight_bytes == 6
    _wait(producer)
    assert told == [0, 1]
    assert producer.in_flight_bytes == 0
    assert _read(mock, "headed", 1) == [(b"gone", None), (b"k", b"v")]


def test_room_counts_records_and_bytes() -> None:
    """A burst above a bound waits for an empty queue and then goes out alone."""
    nobody = replace(_settings("127.0.0.1:1"), queue_records=10, queue_bytes=100)
    producer = BlockProducer(nobody)
    assert producer.room(10_000, 10_000)
    producer.send("t", _records(b"x" * 49), 50, -1, print)
    assert producer.room(9, 50)
    assert not producer.room(10, 50)
    assert not producer.room(9, 51)


_PROGRAM = """
import asyncio
from connectors.kafka.producer import BlockProducer, ProducerSettings

async def main():
    producer = BlockProducer(ProducerSettings({bootstrap!r}, "test", linger_ms=1.0, {settings}))
    producer.start()
    {body}
    await asyncio.sleep(30)

asyncio.run(main())
"""


def _run(bootstrap: str, body: str, settings: str = "") -> "subprocess.CompletedProcess[str]":
    program = _PROGRAM.format(bootstrap=bootstrap, body=body, settings=settings)
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)


def test_a_record_refused_inside_a_burst_ends_the_process(mock: str) -> None:
    """The client takes the others without a word; their block must never be acknowledged."""
    body = (
        "records = [{'key': b'k', 'value': b'x' * size} for size in (1, 5_000_000, 1)]\n"
        "    producer.send('t', records, 0, 0, lambda _: print('acknowledged'))"
    )
    ended = _run(mock, body)
    assert (ended.returncode, ended.stdout) == (72, "")
    assert "1 of 3 records refused" in ended.stderr
    assert "MSG_SIZE_TOO_LARGE" in ended.stderr


def test_a_record_with_headers_that_is_refused_ends_the_process(mock: str) -> None:
    """The same for records that are sent one by one."""
    ended = _run(mock, "producer.send_headed('t', 0, b'k', b'x' * 5_000_000, [], print)")
    assert ended.returncode == 72
    assert "MSG_SIZE_TOO_LARGE" in ended.stderr


def test_a_record_that_is_not_confirmed_in_time_ends_the_process() -> None:
    """Nobody answers: past the timeout the fate of the record is unknown, so its source comes again."""
    ended = _run(
        "127.0.0.1:1",
        "producer.send('t', [{'key': b'k', 'value': b'v'}], 2, 0, print)",
        "message_timeout_ms=200",
    )
    assert (ended.returncode, ended.stdout) == (72, "")
    assert "leaving: DeliveryFailed: t: " in ended.stderr


def test_an_error_in_a_callback_ends_the_process(mock: str) -> None:
    """A store that cannot be written must not leave a role that waits for ever."""
    body = "producer.send('t', [{'key': b'k', 'value': b'v'}], 2, 0, lambda _: {}['no such store'])"
    ended = _run(mock, body)
    assert ended.returncode == 73
    assert "KeyError in a delivery callback" in ended.stderr
