"""How a sender keeps its right to call FCM, against the simulator's own token endpoint."""

import asyncio
import random
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from connectors.providers.fcm import Fcm, FcmSettings
from connectors.providers.service_account import ServiceAccount
from connectors.simulator.client import SimulatorClient
from connectors.simulator.script import Hang, Refusal, Refuse, Reset, Rule, Script
from connectors.simulator.server import Simulator, SimulatorSettings
from streams.clock import FixedClock
from streams.errors import SettingError
from streams.outcomes import Accepted, Misconfigured, Outcome, Unavailable
from tests.connectors.simulator.running import QUICK, TOKEN, Running, call


@pytest.fixture
def clock() -> FixedClock:
    """The clock of both the caller and the simulator."""
    return FixedClock(1_796_000_000_000)


@pytest.fixture
async def server(tmp_path: Path, lab: Running, clock: FixedClock) -> AsyncIterator[Simulator]:
    """A simulator in this process, so that time is ours; it keeps the accounts of the other one."""
    made = (lab.folder / "credentials.json").read_bytes()
    (tmp_path / "credentials.json").write_bytes(made)
    server = Simulator(SimulatorSettings(tmp_path, TOKEN), clock, random.Random())
    await server.start()
    yield server
    await server.stop()


@pytest.fixture
async def simulator(server: Simulator) -> AsyncIterator[SimulatorClient]:
    """Its control calls."""
    async with SimulatorClient(server.urls["control"], TOKEN) as client:
        yield client


@pytest.fixture
async def fcm(tmp_path: Path, server: Simulator, clock: FixedClock) -> AsyncIterator[Fcm]:
    """A sender that has no token yet."""
    account = ServiceAccount.read((tmp_path / "fcm-service-account.json").read_bytes())
    provider = Fcm(FcmSettings(account, server.urls["fcm"], http=QUICK), clock)
    yield provider
    await provider.close()


async def grants(simulator: SimulatorClient) -> int:
    """Return how many tokens were given."""
    return (await simulator.stats()).answers.get("oauth", {}).get("200", 0)


async def sent(fcm: Fcm, times: int = 1) -> list[Outcome]:
    """Return the outcomes of some calls, one after the other."""
    return [await fcm.send(call("push", f"d-{n}")) for n in range(times)]


async def test_a_hundred_first_calls_ask_for_one_token(fcm: Fcm, simulator: SimulatorClient) -> None:
    """However many wait, one grant is under way."""
    outcomes = await asyncio.gather(*(fcm.send(call("push", f"d-{n}")) for n in range(100)))
    assert {type(outcome) for outcome in outcomes} == {Accepted}
    assert await grants(simulator) == 1


async def test_a_token_is_kept_until_shortly_before_its_end(
    fcm: Fcm, simulator: SimulatorClient, clock: FixedClock
) -> None:
    """Four minutes before the end it is still the same, three minutes before a new one is asked for."""
    await sent(fcm)
    clock.advance((3_599 - 240) * 1_000)
    await sent(fcm)
    assert await grants(simulator) == 1
    clock.advance(60_000)
    assert isinstance((await sent(fcm))[0], Accepted)
    while await grants(simulator) < 2:
        continue  # the grant goes on beside the call
    await sent(fcm, 3)
    assert await grants(simulator) == 2


async def test_calls_go_on_while_the_next_token_is_on_its_way(
    fcm: Fcm, simulator: SimulatorClient, clock: FixedClock
) -> None:
    """A token endpoint that hangs stops nothing before the old token ends."""
    await sent(fcm)
    await simulator.follow(Script((Rule("down", Hang(), "oauth"),)))
    clock.advance((3_599 - 200) * 1_000)
    assert isinstance((await sent(fcm))[0], Accepted)
    clock.advance(195_000)
    assert (await sent(fcm))[0] == Unavailable("TOKEN_TIMEOUT")


async def test_a_token_that_ended_is_replaced_before_the_call(
    fcm: Fcm, simulator: SimulatorClient, clock: FixedClock
) -> None:
    """A sender that slept for hours does not spend an attempt on an old token."""
    await sent(fcm)
    clock.advance(7_200_000)
    assert isinstance((await sent(fcm))[0], Accepted)
    assert await grants(simulator) == 2


async def test_a_refused_token_is_replaced_once_and_then_the_account_is_broken(
    fcm: Fcm, simulator: SimulatorClient
) -> None:
    """The first 401 costs one passing failure; a fresh token that is refused too is our fault (R-181)."""
    await sent(fcm)
    await simulator.follow(Script((Rule("revoked", Refusal("UNAUTHENTICATED"), "fcm", times=2),)))
    outcomes = await sent(fcm, 3)
    assert outcomes[:2] == [Unavailable("UNAUTHENTICATED"), Misconfigured("account", "UNAUTHENTICATED")]
    assert isinstance(outcomes[2], Accepted)
    assert await grants(simulator) == 3


async def test_many_refusals_of_one_token_ask_for_one_new_token(fcm: Fcm, simulator: SimulatorClient) -> None:
    """Calls that left with the old token do not blame the new one."""
    await sent(fcm)
    await simulator.follow(Script((Rule("revoked", Refusal("UNAUTHENTICATED"), "fcm", times=8),)))
    outcomes = await asyncio.gather(*(fcm.send(call("push", f"r-{n}")) for n in range(8)))
    assert outcomes == [Unavailable("UNAUTHENTICATED")] * 8
    assert isinstance((await sent(fcm))[0], Accepted)
    assert await grants(simulator) == 2


@pytest.mark.parametrize(
    "fault, outcome",
    [
        (Refusal("invalid_grant"), Misconfigured("account", "TOKEN_INVALID_GRANT")),
        (Refusal(status=503, body="", retry_after=3), Unavailable("TOKEN_HTTP_503", 3_000)),
        (Refusal(status=200, body="{}"), Unavailable("TOKEN_HTTP_200")),
        (Reset(), Unavailable("TOKEN_CONNECTION_LOST")),
        (Refuse(), Unavailable("TOKEN_CONNECTION_LOST")),
    ],
)
async def test_without_a_token_nothing_was_sent(
    fcm: Fcm, simulator: SimulatorClient, fault: Refusal | Reset | Refuse, outcome: Outcome
) -> None:
    """Whatever happens to the request for a token, the message certainly did not leave."""
    await simulator.follow(Script((Rule("down", fault, "oauth"),)))
    assert (await sent(fcm))[0] == outcome
    assert [entry async for entry in simulator.entries()] == []


async def test_a_failed_grant_is_not_asked_for_again_by_each_call(
    fcm: Fcm, simulator: SimulatorClient, clock: FixedClock
) -> None:
    """A thousand waiting calls do not become a thousand requests for a token."""
    await simulator.follow(Script((Rule("down", Refusal("invalid_grant"), "oauth", times=1),)))
    assert await sent(fcm, 5) == [Misconfigured("account", "TOKEN_INVALID_GRANT")] * 5
    clock.advance(1_000)
    assert isinstance((await sent(fcm))[0], Accepted)


async def test_a_key_that_is_not_the_accounts_is_refused(
    tmp_path: Path, fcm: Fcm, server: Simulator, clock: FixedClock
) -> None:
    """The simulator checks the signature, as Google does."""
    account = ServiceAccount.read((tmp_path / "fcm-service-account.json").read_bytes())
    stranger = ServiceAccount("somebody@else.example", account.token_uri, account.project_id, "", account.key)
    provider = Fcm(FcmSettings(stranger, server.urls["fcm"], http=QUICK), clock)
    assert await sent(provider) == [Misconfigured("account", "TOKEN_INVALID_GRANT")]
    await provider.close()


async def test_another_project_is_the_accounts_fault(
    tmp_path: Path, server: Simulator, clock: FixedClock
) -> None:
    """A wrong project id pauses the account instead of ending each message."""
    account = ServiceAccount.read((tmp_path / "fcm-service-account.json").read_bytes())
    provider = Fcm(FcmSettings(account, server.urls["fcm"], "another-project", QUICK), clock)
    assert await sent(provider) == [Misconfigured("account", "NOT_FOUND")]
    await provider.close()


async def test_a_caller_that_gives_up_does_not_take_the_token_from_the_others(
    fcm: Fcm, simulator: SimulatorClient
) -> None:
    """Cancelling the call that asked first leaves the grant to those that wait for it."""
    first = asyncio.create_task(fcm.send(call("push", "first")))
    second = asyncio.create_task(fcm.send(call("push", "second")))
    await asyncio.sleep(0)
    first.cancel()
    assert isinstance(await second, Accepted)
    assert await grants(simulator) == 1


@pytest.mark.parametrize(
    "document", ["", "{}", "[]", '{"private_key":"x","client_email":"e","token_uri":"u"}', '{"a":1}']
)
def test_what_is_no_service_account_is_said_without_quoting_it(document: str) -> None:
    """A wrong file stops the process at its start, and its content stays out of the log."""
    with pytest.raises(SettingError, match="service account key"):
        ServiceAccount.read(document)


def test_a_service_account_never_shows_its_key(lab: Running) -> None:
    """Logging settings tells no secret."""
    account = ServiceAccount.read((lab.folder / "fcm-service-account.json").read_bytes())
    assert "key=" not in repr(account).replace("key_id=", "")
