"""A look at Kafka: bounded, exact, and without a trace."""

from collections.abc import Callable

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]  # not in its __all__

from connectors.embedded.addresses import Addresses
from connectors.kafka.scan import KafkaSilent, Scan
from tests.connectors.kafka.worker_process import until

pytestmark = pytest.mark.integration


@pytest.fixture
def topic(stack: Addresses, prefix: str) -> str:
    """A topic of two partitions; returns the name within the test's namespace."""
    admin = AdminClient({"bootstrap.servers": stack.kafka})
    for future in admin.create_topics([NewTopic(f"{prefix}.t", 2, 1)]).values():
        future.result()
    return "t"


@pytest.fixture
def scan(stack: Addresses, prefix: str) -> Callable[[], Scan]:
    """Make a look at the test's namespace."""
    return lambda: Scan(stack.kafka, f"{prefix}.")


def produce(stack: Addresses, name: str, count: int, **config: str) -> Producer:
    """Write records 0…count-1, in turn to two partitions."""
    producer = Producer({"bootstrap.servers": stack.kafka, **config})
    if config:
        producer.init_transactions()
        producer.begin_transaction()
    for n in range(count):
        producer.produce(name, b"%d" % n, b"k", partition=n % 2, headers=[("h", b"x")])
    producer.flush()
    return producer


def test_exactly_the_range_is_read(
    stack: Addresses, prefix: str, topic: str, scan: Callable[[], Scan]
) -> None:
    """Records from the start to before the end, in order, whatever comes after."""
    produce(stack, f"{prefix}.{topic}", 40)
    look = scan()
    places = look.places([topic])
    assert places == [("t", 0), ("t", 1)]
    assert look.starts(places) == {("t", 0): 0, ("t", 1): 0}
    assert look.ends(places) == {("t", 0): 20, ("t", 1): 20}
    records = [r for batch in look.read({("t", 0): (5, 8), ("t", 1): (20, 20)}) for r in batch]
    assert [(r.topic, r.partition, r.offset, r.value) for r in records] == [
        ("t", 0, n, b"%d" % (2 * n)) for n in (5, 6, 7)
    ]
    assert (records[0].key, records[0].headers) == (b"k", (("h", b"x"),))


def test_aborted_records_are_no_records(
    stack: Addresses, prefix: str, topic: str, scan: Callable[[], Scan]
) -> None:
    """What a transaction took back is not read, and does not keep the reader waiting."""
    name = f"{prefix}.{topic}"
    producer = produce(stack, name, 4, **{"transactional.id": prefix})
    assert scan().ends([("t", 0)]) == {("t", 0): 0}  # open: nobody can read past it
    producer.abort_transaction()
    produce(stack, name, 2)
    look = scan()
    places = look.places([topic])
    # The coordinator writes its markers in its own time after it has answered.
    until(
        "the abort is marked", lambda: look.ends(places)[("t", 0)] == 4
    )  # two aborted, the marker, one more
    ends = look.ends(places)
    records = [r for batch in look.read({place: (0, end) for place, end in ends.items()}) for r in batch]
    assert sorted(r.value or b"" for r in records) == [b"0", b"1"]


def test_what_is_not_there(scan: Callable[[], Scan]) -> None:
    """A missing topic has no partitions, a group that never was has acknowledged nothing."""
    look = scan()
    assert look.places(["nowhere"]) == []
    assert look.starts([]) == {}
    assert list(look.read({})) == []
    assert look.committed("nobody") == {}


def test_looking_leaves_no_trace(stack: Addresses, prefix: str, topic: str, scan: Callable[[], Scan]) -> None:
    """A scan joins no group and acknowledges nothing."""
    produce(stack, f"{prefix}.{topic}", 2)
    list(scan().read({("t", 0): (0, 1)}))
    groups = AdminClient({"bootstrap.servers": stack.kafka}).list_consumer_groups().result().valid
    assert "harkara-scan" not in {group.group_id for group in groups}


def test_nobody_there() -> None:
    """Without a broker it says so in one line."""
    with pytest.raises(KafkaSilent, match="Kafka does not answer"):
        Scan("127.0.0.1:1", timeout_s=1.0)
