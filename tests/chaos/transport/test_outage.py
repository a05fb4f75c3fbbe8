"""Kafka away and back: nobody has to lend a hand."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from connectors.embedded.stack import Stack
from tests.connectors.kafka.harness import Bench
from tests.connectors.kafka.worker_process import cpu_seconds, until, wall_seconds

pytestmark = [pytest.mark.integration, pytest.mark.chaos]

_NOBODY = "http://127.0.0.1:1"


@pytest.fixture
def kafka(tmp_path: Path, cache: Path | None) -> Iterator[Stack]:
    """A broker of our own, which may be stopped."""
    with Stack(tmp_path / "stack", cache=cache, redis=_NOBODY, clickhouse=_NOBODY) as stack:
        yield stack


@pytest.fixture
def bench(kafka: Stack, prefix: str, tmp_path: Path) -> Iterator[Bench]:
    """A bench on that broker, with sessions that an outage outlasts."""
    bench = Bench(kafka.addresses.kafka, tmp_path, prefix, session_ms=2_000, message_timeout_ms=900)
    yield bench
    bench.close()


def test_a_worker_without_kafka_waits_and_starts_when_it_comes(kafka: Stack, bench: Bench) -> None:
    """It says once what it waits for, uses next to nothing meanwhile, and needs no restart."""
    bench.load(100)
    kafka.halt("kafka")
    worker = bench.start()
    until("it says what it waits for", lambda: "Kafka does not answer" in worker.said)
    used, waited = cpu_seconds(worker), wall_seconds(worker)
    until("it has asked again", lambda: wall_seconds(worker) > waited + 3.0)
    assert cpu_seconds(worker) - used < 1.0
    kafka.resume("kafka")
    kafka.wait("kafka")
    worker.wait_ready()
    bench.wait_drained()
    assert worker.said.count("Kafka does not answer") == 1
    assert bench.verify().missing == 0


@pytest.mark.parametrize("load", [0, 20_000], ids=["idle", "among its blocks"])
def test_an_outage_longer_than_a_session(kafka: Stack, bench: Bench, load: int) -> None:
    """The worker waits or leaves to be started again; nothing is lost, repeated wrongly or shouted."""
    bench.load(500)
    worker = bench.start("state", record_us=50).wait_ready()
    bench.wait_drained()
    bench.load(load)
    kafka.halt("kafka")
    used, lines = cpu_seconds(worker), len(worker.said.splitlines())

    def outlasted() -> bool:
        apps = worker.facts().get("apps")
        return not apps or apps[bench.group]["heartbeat_age_s"] > 2 * worker.settings.session_ms / 1000

    until("the session is over", outlasted)
    if worker.process.poll() is None:
        assert cpu_seconds(worker) - used < 2.0
    kafka.resume("kafka")
    kafka.wait("kafka")
    bench.load(500)
    until("all is committed, whoever leaves meanwhile", lambda: bench.restarted() and bench.drained())
    assert len(worker.said.splitlines()) - lines < 20
    verdict = bench.verify()
    assert verdict.records == 1_000 + load
    assert (verdict.missing, verdict.wrong, verdict.state_wrong, verdict.back_in_time) == (0, 0, 0, 0)
