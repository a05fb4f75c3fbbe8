"""The demo's clock: one record on `controls` that moves the clock of every process that follows it."""

from connectors.kafka.client_producer import ClientProducer
from connectors.kafka.feed import Feed
from harkara.wall_clock import WallClock
from streams.records.codec import read_control, to_json
from streams.records.control import ClockShift
from streams.topics import CONTROLS

_KEY = b"clock"


def present_shift_ms(bootstrap: str) -> int:
    """Return how far the clocks that follow run ahead of the wall at present; 0 by default."""
    shift_ms = 0

    def apply(key: bytes, value: bytes | None) -> None:
        nonlocal shift_ms
        if key == _KEY and value is not None:
            shift_ms = read_control(value).offset_ms

    feed = Feed(bootstrap, CONTROLS, apply)
    feed.read_to_end()
    feed.stop()
    return shift_ms


def shift_clocks(bootstrap: str, offset_ms: int, set_by: str) -> None:
    """Make every process that follows run this far ahead of the wall; returns when that is durable.

    Clocks must only ever move forward: state holds instants, and a cursor never goes back.
    """
    with ClientProducer(bootstrap, WallClock()) as producer:
        producer.send(CONTROLS.full_name, _KEY, to_json(ClockShift(offset_ms, set_by)))
        producer.flush()
