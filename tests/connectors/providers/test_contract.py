"""What every provider promises, provoked over real sockets by the simulator's script."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
from msgspec import structs

from connectors.providers.http import HttpSettings
from connectors.providers.provider import Provider
from connectors.providers.registry import PROVIDERS
from connectors.simulator.client import SimulatorClient
from connectors.simulator.script import Fault, Hang, Quota, Refusal, Refuse, Reset, Rule, Script
from streams.outcomes import (
    Accepted,
    EndpointGone,
    Misconfigured,
    Outcome,
    Rejected,
    Throttled,
    Unavailable,
    Unknown,
)
from streams.rendering.message import PushMessage, SmsMessage
from tests.connectors.simulator.running import QUICK, Running, call


@dataclass(frozen=True)
class Codes:
    """What a provider says for each class of outcome."""

    gone: str
    refused: str
    misconfigured: str
    throttled: str
    unavailable: str
    unheard_of: str


CODES = {
    "fcm": Codes(
        "UNREGISTERED",
        "INVALID_ARGUMENT",
        "PERMISSION_DENIED",
        "QUOTA_EXCEEDED",
        "UNAVAILABLE",
        "NEW_IN_2030",
    ),
    "twilio": Codes("21211", "21617", "20003", "20429", "20503", "99999"),
}


@pytest.fixture(params=[kind.name for kind in PROVIDERS])
def name(request: pytest.FixtureRequest) -> str:
    """Every provider of the registry, one after the other."""
    return str(request.param)


@pytest.fixture
async def provider(name: str, lab: Running, simulator: SimulatorClient) -> AsyncIterator[Provider]:
    """A provider that calls the simulator."""
    made = lab.provider(name)
    yield made
    await made.close()


async def faulty(
    simulator: SimulatorClient, provider: Provider, fault: Fault, times: int | None = None
) -> None:
    """Make the provider's calls end in a fault."""
    await simulator.follow(Script((Rule("fault", fault, provider.name, times=times),)))


async def after(simulator: SimulatorClient, provider: Provider, fault: Fault) -> Outcome:
    """Return what a call comes to when it meets a fault."""
    await faulty(simulator, provider, fault)
    return await provider.send(call(provider.channel))


async def gone_out(simulator: SimulatorClient, delivery_id: str = "d-1") -> int:
    """Return how often the user got a delivery."""
    return len([entry async for entry in simulator.entries(delivery_id=delivery_id, accepted=True)])


def test_every_provider_says_who_it_is() -> None:
    """Name and channel of the registry are the provider's own."""
    assert [(kind.make.name, kind.make.channel) for kind in PROVIDERS] == [  # type: ignore[attr-defined]  # classes
        (kind.name, kind.channel) for kind in PROVIDERS
    ]


async def test_a_message_arrives_with_its_text_and_delivery_id(
    provider: Provider, simulator: SimulatorClient
) -> None:
    """An accepted call is one message at the address, under the provider's id."""
    outcome = await provider.send(call(provider.channel))
    (entry,) = [entry async for entry in simulator.entries()]
    assert isinstance(outcome, Accepted)
    assert (entry.delivery_id, entry.message_id) == ("d-1", outcome.provider_message_id)
    assert entry.text.endswith("Order 7 is on its way.")
    assert entry.accepted


async def test_bengali_arrives_unchanged(provider: Provider, simulator: SimulatorClient) -> None:
    """No encoding on the way changes a letter."""
    sent = call(provider.channel)
    text = "র‍্যাব: ৳১০০ পেয়েছেন & “+1” 🎉\nধন্যবাদ"
    message = PushMessage("t", text, {}) if provider.channel == "push" else SmsMessage(text, 1)
    await provider.send(structs.replace(sent, message=message))
    (entry,) = [entry async for entry in simulator.entries()]
    assert entry.text.removeprefix("t\n") == text


async def test_a_dead_address_is_gone(provider: Provider, simulator: SimulatorClient, name: str) -> None:
    """The provider's word for an address that can never receive."""
    code = CODES[name].gone
    assert await after(simulator, provider, Refusal(code)) == EndpointGone(code)


async def test_a_clear_refusal_is_permanent(
    provider: Provider, simulator: SimulatorClient, name: str
) -> None:
    """A message that can never go is rejected, and its address is kept."""
    outcome = await after(simulator, provider, Refusal(CODES[name].refused))
    assert isinstance(outcome, Rejected)
    assert outcome.permanent


async def test_a_broken_account_is_not_the_messages_fault(
    provider: Provider, simulator: SimulatorClient, name: str
) -> None:
    """Credentials and roles pause the account (R-181)."""
    code = CODES[name].misconfigured
    assert await after(simulator, provider, Refusal(code)) == Misconfigured("account", code)


async def test_a_passing_failure_is_unavailable(
    provider: Provider, simulator: SimulatorClient, name: str
) -> None:
    """Retry-After goes with it (R-182)."""
    code = CODES[name].unavailable
    assert await after(simulator, provider, Refusal(code, retry_after=7)) == Unavailable(code, 7_000)


async def test_a_quota_throttles_exactly_what_exceeds_it(
    provider: Provider, simulator: SimulatorClient, name: str
) -> None:
    """What is within the quota passes, the rest is told when to come back."""
    await faulty(simulator, provider, Quota(limit=3, window_ms=60_000))
    outcomes = [await provider.send(call(provider.channel, f"d-{n}")) for n in range(5)]
    assert [type(outcome) for outcome in outcomes] == [Accepted] * 3 + [Throttled] * 2
    last = outcomes[-1]
    assert isinstance(last, Throttled)
    assert (last.scope, last.code) == ("account", CODES[name].throttled)
    assert 0 < last.after_ms <= 60_000


async def test_a_throttle_without_a_time_pauses_only_what_counts_by_the_minute(
    provider: Provider, simulator: SimulatorClient, name: str
) -> None:
    """429 without Retry-After: FCM's quota is a minute's, others say nothing about a pause (RAT-03)."""
    code = CODES[name].throttled
    pause_ms = 60_000 if name == "fcm" else 0
    assert await after(simulator, provider, Refusal(code)) == Throttled(pause_ms, "account", code)


async def test_a_wait_may_be_a_date(provider: Provider, simulator: SimulatorClient, name: str) -> None:
    """A date that has passed is no wait, whatever our clock says."""
    fault = Refusal(CODES[name].throttled, retry_after="Wed, 21 Oct 2015 07:28:00 GMT")
    assert await after(simulator, provider, fault) == Throttled(0, "account", CODES[name].throttled)


async def test_an_unheard_of_code_is_unknown(
    provider: Provider, simulator: SimulatorClient, name: str
) -> None:
    """Providers add codes; none of them is guessed to be a success or a refusal."""
    code = CODES[name].unheard_of
    assert await after(simulator, provider, Refusal(code)) == Unknown(code)


@pytest.mark.parametrize(
    "body", ["", "ERR: 114, cannot route", '{"success":false}', "<html>login</html>", "[]"]
)
@pytest.mark.parametrize("status", [200, 201])
async def test_success_is_an_id_and_nothing_less(
    provider: Provider, simulator: SimulatorClient, status: int, body: str
) -> None:
    """An HTTP success without the provider's id is unknown, never sent (FAI-06)."""
    assert isinstance(await after(simulator, provider, Refusal(status=status, body=body)), Unknown)


@pytest.mark.parametrize("status", [302, 408, 500, 502, 503, 504])
async def test_a_gateways_error_page_is_unknown(
    provider: Provider, simulator: SimulatorClient, status: int
) -> None:
    """Without the provider's own words, the request may have been passed on."""
    fault = Refusal(status=status, body="<html>Bad gateway</html>")
    assert await after(simulator, provider, fault) == Unknown(f"HTTP_{status}")


async def test_a_refused_connection_is_unavailable_until_it_is_not(
    provider: Provider, simulator: SimulatorClient
) -> None:
    """Before a connection stands nothing can have been sent."""
    assert isinstance(await provider.send(call(provider.channel, "before")), Accepted)
    await faulty(simulator, provider, Refuse())
    # The first may still meet the connection that the simulator has just broken.
    during = [await provider.send(call(provider.channel, "during")) for _ in range(2)]
    assert during[-1] == Unavailable("CONNECT")
    await simulator.follow(Script())
    assert isinstance(await provider.send(call(provider.channel, "afterwards")), Accepted)
    assert await gone_out(simulator, "during") == 0
    assert await gone_out(simulator, "afterwards") == 1


async def test_a_lost_connection_is_unknown(provider: Provider, simulator: SimulatorClient) -> None:
    """A reset before the message was processed looks like one after it (R-197)."""
    assert await after(simulator, provider, Reset()) == Unknown("CONNECTION_LOST")
    assert await gone_out(simulator) == 0


async def test_a_lost_answer_is_unknown_although_the_message_went_out(
    provider: Provider, simulator: SimulatorClient
) -> None:
    """The ledger knows what the caller cannot know (R-197)."""
    assert await after(simulator, provider, Reset(accepted=True)) == Unknown("CONNECTION_LOST")
    assert await gone_out(simulator) == 1


async def test_silence_is_unknown(provider: Provider, simulator: SimulatorClient) -> None:
    """A call that gets no answer in time may have been processed."""
    assert await after(simulator, provider, Hang(accepted=True)) == Unknown("TIMEOUT")
    assert await gone_out(simulator) == 1


async def test_a_repeat_after_a_lost_answer_is_two_messages_in_the_ledger(
    provider: Provider, simulator: SimulatorClient
) -> None:
    """Both arrivals of one delivery are there to be counted."""
    await faulty(simulator, provider, Reset(accepted=True), times=1)
    outcomes = [await provider.send(call(provider.channel)) for _ in range(2)]
    entries = [entry async for entry in simulator.entries(delivery_id="d-1")]
    assert [type(outcome) for outcome in outcomes] == [Unknown, Accepted]
    assert [(entry.arrival, entry.accepted) for entry in entries] == [(1, True), (2, True)]
    assert await simulator.repeated() == {"d-1": 2}


async def test_one_call_is_one_request(provider: Provider, simulator: SimulatorClient, name: str) -> None:
    """Nothing is tried again below the route, whatever the answer (R-188)."""
    await after(simulator, provider, Refusal(CODES[name].unavailable))
    assert len([entry async for entry in simulator.entries()]) == 1


async def test_a_call_that_finds_no_free_connection_is_unavailable(
    name: str, lab: Running, simulator: SimulatorClient
) -> None:
    """A provider that hangs fills its own connections only, and what waits for one has not left."""
    provider = lab.provider(name, HttpSettings(connections=1, connect_ms=100, answer_ms=2_000))
    await provider.send(call(provider.channel, "warm"))
    await faulty(simulator, provider, Hang(ms=300), times=1)
    outcomes = await asyncio.gather(*(provider.send(call(provider.channel, f"d-{n}")) for n in range(2)))
    await provider.close()
    assert outcomes == [Unknown("CONNECTION_LOST"), Unavailable("CONNECT_TIMEOUT")]


async def test_a_message_of_another_channel_is_a_mistake_in_our_code(
    provider: Provider, simulator: SimulatorClient
) -> None:
    """A wrong wiring ends the process instead of a message."""
    other = call("sms" if provider.channel == "push" else "push")
    with pytest.raises(TypeError):
        await provider.send(other)


def test_the_short_timeouts_of_these_tests_are_not_the_products() -> None:
    """A provider is given the ten seconds that FCM asks for."""
    assert HttpSettings().answer_ms >= 10_000 > QUICK.answer_ms
