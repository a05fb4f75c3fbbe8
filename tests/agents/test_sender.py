"""The sender: no call without a durable claim, none twice unknowingly, and order per user."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from agents.sender import attempt
from connectors.kafka.block import Writes
from harkara.testing import RecordingTransport
from streams.catalog import Catalog
from streams.clock import FixedClock
from streams.outcomes import Outcome, Rejected, Unknown
from streams.reasons import Reason
from streams.records.delivery import Delivery
from streams.records.followup import Reconsider, Settle
from streams.records.state import Claim, Stops
from streams.rendering.render import render
from streams.statuses import Status
from streams.topics import DEAD_LETTERS, DELIVERY_EVENTS, FOLLOWUPS, PROFILES, Lane
from tests.agents.sending import NOW, Sending, delivery
from tests.connectors.pacing.conftest import make
from tests.connectors.pacing.scripted import SENT, Make, Scripted, until

__all__ = ["make"]  # a fixture

Begin = Callable[..., Sending]


@pytest.fixture
def provider() -> Scripted:
    return Scripted("twilio")


@pytest.fixture
def begin(make: Make, catalog: Catalog, provider: Scripted) -> Begin:
    """Start a sender's process; a second one finds what the first one left."""
    transport, clock = RecordingTransport(), FixedClock(NOW)
    return lambda **settings: Sending(transport, make(provider, clock=clock), catalog, clock, **settings)


async def test_a_delivery_is_claimed_called_and_told(begin: Begin, provider: Scripted) -> None:
    """The claim is durable before the call, and closed with its event after it."""
    sending = begin()

    def answer() -> Outcome:
        assert sending.claim("d1").open
        return SENT

    provider.answer = answer
    await sending.read((0, delivery("d1")))
    await until(lambda: sending.committed == 1)
    assert [event.status for event in sending.events("d1")] == [Status.SENT]
    assert not sending.claim("d1").open


async def test_a_replay_repeats_the_verdict_and_calls_nobody(begin: Begin, provider: Scripted) -> None:
    """The same record after a crash tells the same event again."""
    first = begin()
    await first.read((0, delivery("d1")))
    await until(lambda: first.committed == 1)
    again = begin()
    await again.read((0, delivery("d1")))
    await until(lambda: len(again.events("d1")) == 2)
    told = again.events("d1")
    assert told[0] == told[1]
    assert provider.calls == 1


@pytest.mark.parametrize(
    ("type_name", "calls", "statuses"),
    [("order_shipped", 0, [Status.UNKNOWN]), ("otp", 1, [Status.UNKNOWN, Status.SENT])],
)
async def test_a_claim_of_a_dead_process_is_unknown(
    begin: Begin, provider: Scripted, type_name: str, calls: int, statuses: list[Status]
) -> None:
    """What may have been sent is told as unknown; only a type that says so is sent again."""
    sending = begin()
    sending.hold_claim("d1", Claim(1, True, "twilio", NOW, NOW + 3_600_000, 0, decided_at_ms=NOW))
    await sending.read((0, delivery("d1", type_name=type_name)))
    await until(lambda: sending.committed == 1)
    assert [event.status for event in sending.events("d1")] == statuses
    assert sending.events("d1")[0].error_code == "lost_claim"
    assert provider.calls == calls


async def test_a_second_copy_waits_for_the_call_under_way(begin: Begin, provider: Scripted) -> None:
    """A claim whose call lives in this process is no lost one, however slow the call is."""
    sending = begin()
    provider.gate.clear()
    await sending.read((0, delivery("d1")))
    await until(lambda: provider.calls == 1)
    await sending.read((1, delivery("d1")))
    await sending.read((2, delivery("d2", user="u2")))  # others go on meanwhile
    await until(lambda: provider.calls == 2)
    provider.gate.set()
    await until(lambda: len(sending.events("d1")) == 2)
    assert {event.status for event in sending.events("d1")} == {Status.SENT}
    assert provider.calls == 2
    assert sending.followups() == []


async def test_who_waits_behind_a_slow_call_gives_way_in_order(begin: Begin, provider: Scripted) -> None:
    """Nobody overtakes: all of the user's come back later, one after the other; then it goes on."""
    sending = begin()
    provider.gate.clear()
    await sending.read(*((n, delivery(f"d{n}")) for n in range(4)))
    await until(lambda: len(sending.followups()) == 3)
    await sending.read((4, delivery("d4")))
    await until(lambda: len(sending.followups()) == 4)
    back = [followup for followup in sending.followups() if isinstance(followup, Reconsider)]
    assert [followup.delivery.delivery_id for followup in back] == ["d1", "d2", "d3", "d4"]
    assert [followup.reason for followup in back] == [Reason.BUSY] * 4
    assert [followup.at_ms for followup in back[:3]] == [NOW + 1_000, NOW + 1_001, NOW + 1_002]
    assert provider.calls == 1
    provider.gate.set()
    await until(lambda: bool(sending.events("d0")))
    await sending.read((5, replace(delivery("d1"), decided_at_ms=NOW + 1_100)))
    await until(lambda: bool(sending.events("d1")))
    assert provider.calls == 2


async def test_what_was_given_back_is_given_back_again_on_replay(begin: Begin, provider: Scripted) -> None:
    """A decision that ended in a hand-back is dealt with: its record again says the same again."""
    first = begin()
    provider.gate.clear()
    await first.read((0, delivery("d0")), (1, delivery("d1")))
    await until(lambda: len(first.followups()) == 1)
    again = begin()
    await again.read((1, delivery("d1")), (2, delivery("d1")))  # the record, and a copy of it by a router
    await until(lambda: len(again.followups()) == 3)
    assert len(set(map(repr, again.followups()))) == 1
    assert provider.calls == 1
    provider.gate.set()
    await until(lambda: bool(first.events("d0")))


async def test_what_comes_back_is_sent(begin: Begin, provider: Scripted) -> None:
    """A later decision about what was given back is a new one."""
    sending = begin()
    await sending.read((0, delivery("d1", send_until_ms=NOW)))
    await until(lambda: sending.committed == 1)
    (back,) = sending.followups()
    assert isinstance(back, Reconsider)
    assert sending.claim("d1").attempt == 0
    await sending.read((1, replace(back.delivery, decided_at_ms=NOW + 5_000, send_until_ms=NOW + 65_000)))
    await until(lambda: bool(sending.events("d1")))
    assert provider.calls == 1


async def test_a_death_between_two_attempts_hands_the_next_one_back(begin: Begin, provider: Scripted) -> None:
    """What came of the first attempt is on record: it is told again, not taken for a lost claim."""
    first = begin()
    provider.answer = lambda: Unknown("TIMEOUT")
    await first.read((0, delivery("d1", type_name="otp")))
    await until(lambda: len(first.events("d1")) == 1)
    again = begin()
    await again.read((0, delivery("d1", type_name="otp")))
    await until(lambda: len(again.events("d1")) == 2)
    told = again.events("d1")
    assert told[0] == told[1]
    (back,) = again.followups()
    assert isinstance(back, Reconsider)
    assert back.delivery.attempt == 2


async def test_a_failure_says_all_of_it_again(begin: Begin, provider: Scripted) -> None:
    """A replay repeats the dead letter, the place given back and what was learnt of the user."""
    provider.answer = lambda: Rejected(Reason.OPTED_OUT, "21610")
    first = begin()
    await first.read((0, delivery("d1", reserves=True)))
    await until(lambda: first.committed == 1)
    again = begin()
    await again.read((0, delivery("d1", reserves=True)))
    await until(lambda: len(again.events("d1")) == 2)
    for topic in (DELIVERY_EVENTS, FOLLOWUPS[Lane.TRANSACTIONAL], DEAD_LETTERS, PROFILES):
        one, two = again.written(topic)
        assert one == two
    assert provider.calls == 1


async def test_a_stopped_delivery_is_not_called(begin: Begin, provider: Scripted) -> None:
    """An opt-out that came after the decision holds; the place under the cap is given back."""
    sending = begin()
    writes = Writes(0)
    sending.stops.save(writes, b"u1", Stops(applied=0, opted_out={("order", "*"): NOW}))
    sending.transport.apply(writes)
    await sending.read((0, delivery("d1", reserves=True)))
    await until(lambda: sending.committed == 1)
    (event,) = sending.events("d1")
    assert (event.status, event.reason) == (Status.SUPPRESSED, Reason.OPTED_OUT)
    assert [type(followup) for followup in sending.followups()] == [Settle]
    assert provider.calls == 0


async def test_a_delivery_that_breaks_our_code_fails_alone(
    begin: Begin, provider: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends as failed with its record aside; the partition moves on, and nobody was called for it."""

    def broken(delivery: Delivery, catalog: Catalog) -> object:
        if delivery.delivery_id == "d1":
            raise ZeroDivisionError
        return render(delivery, catalog)

    monkeypatch.setattr(attempt, "render", broken)
    sending = begin()
    await sending.read((0, delivery("d1")), (1, delivery("d2", user="u2")))
    await until(lambda: sending.committed == 2)
    (event,) = sending.events("d1")
    assert (event.status, event.reason) == (Status.FAILED, Reason.POISON)
    assert len(sending.written(DEAD_LETTERS)) == 1
    assert provider.calls == 1


async def test_partitions_taken_away_abandon_what_is_not_claimed(begin: Begin, provider: Scripted) -> None:
    """Calls under way end and are told; what waits is dropped, and its block stays unacknowledged."""
    sending = begin(chain_wait_ms=60_000)
    provider.gate.clear()
    await sending.read((0, delivery("d0")), (1, delivery("d1")))
    await until(lambda: provider.calls == 1)
    provider.gate.set()
    await sending.sender.abandon({0})
    assert [event.status for event in sending.events("d0")] == [Status.SENT]
    assert sending.committed == 0
    assert provider.calls == 1
