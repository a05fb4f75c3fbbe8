"""The simulator as a program: what it prints, keeps, refuses and how it ends."""

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from aiohttp import ClientSession

from connectors.providers.http import HttpSettings
from connectors.simulator.client import SimulatorClient, SimulatorError
from connectors.simulator.script import Hang, Latency, Refuse, Rule, Script
from streams.outcomes import Accepted
from tests.connectors.simulator.running import TOKEN, Running, call, running


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One simulator for the tests that do not end it."""
    with running(tmp_path_factory.mktemp("simulator")) as simulator:
        yield simulator


@pytest.fixture
async def simulator(lab: Running) -> AsyncIterator[SimulatorClient]:
    """Its control calls, without faults and with an empty ledger."""
    async with lab.client() as client:
        await client.follow(Script())
        await client.reset()
        yield client


async def sent(lab: Running, *delivery_ids: str) -> None:
    """Send a push for each of these."""
    provider = lab.provider("fcm")
    for delivery_id in delivery_ids:
        assert isinstance(await provider.send(call("push", delivery_id)), Accepted)
    await provider.close()


async def test_a_kill_loses_nothing_that_was_answered(tmp_path: Path) -> None:
    """After SIGKILL and a restart the ledger holds every call, and a repeat is seen as one."""
    with running(tmp_path) as before:
        await sent(before, "d-1", "d-2")
        before.process.kill()
        before.process.wait()
    ports = [url.rpartition(":")[2] for url in before.urls.values()]
    options = zip(("--port", "--fcm-port", "--twilio-port"), ports, strict=True)
    with running(tmp_path, *(word for option in options for word in option)) as again:
        assert again.urls == before.urls
        await sent(again, "d-1")
        async with again.client() as client:
            assert await client.repeated() == {"d-1": 2}
            assert [entry.seq async for entry in client.entries()] == [0, 1, 2]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_it_ends_when_asked_even_while_calls_hang(tmp_path: Path, number: signal.Signals) -> None:
    """A provider that says nothing does not hold up the end of the demo."""
    with running(tmp_path) as lab:
        async with lab.client() as client:
            await client.follow(Script((Rule("hang", Hang()),)))
        provider = lab.provider("fcm")
        hanging = asyncio.create_task(provider.send(call("push")))
        async with lab.client() as client:
            while (await client.stats()).ledger.calls == 0:
                continue
        lab.process.send_signal(number)
        assert await asyncio.to_thread(lab.process.wait, 10) == 0
        await hanging
        await provider.close()


async def test_the_same_token_is_good_after_a_restart(tmp_path: Path) -> None:
    """A restart of the simulator is no change of credentials."""
    with running(tmp_path) as before:
        provider = before.provider("fcm")
        assert isinstance(await provider.send(call("push", "d-1")), Accepted)
    port = before.urls["fcm"].rpartition(":")[2]
    with running(tmp_path, "--fcm-port", port) as again:
        outcomes = [await provider.send(call("push", f"d-{n}")) for n in range(2, 4)]
        assert isinstance(outcomes[-1], Accepted)
        async with again.client() as client:
            assert "oauth" not in (await client.stats()).answers
    await provider.close()


@pytest.mark.parametrize(
    "method, path", [("GET", "stats"), ("PUT", "script"), ("POST", "reset"), ("GET", "ledger")]
)
@pytest.mark.parametrize(
    "authorization", ["", "Bearer", f"Bearer {TOKEN}x", f"Basic {TOKEN}", "Bearer \u00e9"]
)
async def test_control_calls_need_the_token(lab: Running, method: str, path: str, authorization: str) -> None:
    """Whoever may call a provider may not therefore change the ledger."""
    async with (
        ClientSession() as session,
        session.request(
            method, f"{lab.urls['control']}/_sim/{path}", headers={"Authorization": authorization}
        ) as response,
    ):
        assert response.status == 401


async def test_every_answer_says_that_it_is_simulated(lab: Running) -> None:
    """Nobody takes it for a provider; its health needs no token."""
    async with ClientSession() as session:
        for path, status in (("/_sim/health", 200), ("/_sim/stats", 401), ("/", 404), ("/v1/x", 401)):
            async with session.get(f"{lab.urls['control']}{path}") as response:
                assert (response.status, response.headers["X-Harkara-Simulated"]) == (status, "1")


@pytest.mark.parametrize(
    "body",
    [
        "no json",
        '{"rules":[{"name":"x","fault":{"kind":"explode"}}]}',
        '{"rules":[{"name":"x","fault":{"kind":"latency","ms":1},"adress":["*"]}]}',
        '{"rules":[{"name":"x"}]}',
    ],
)
async def test_a_script_that_cannot_be_followed_is_refused(
    lab: Running, simulator: SimulatorClient, body: str
) -> None:
    """A mistyped condition would otherwise be a fault for everybody; the old script stays."""
    await simulator.follow(Script((Rule("kept", Latency(0)),)))
    async with (
        ClientSession(headers={"Authorization": f"Bearer {TOKEN}"}) as session,
        session.put(f"{lab.urls['control']}/_sim/script", data=body) as response,
    ):
        assert response.status == 400
    assert [rule.name for rule in (await simulator.script()).rules] == ["kept"]


async def test_a_mistaken_control_call_says_what_is_wrong(simulator: SimulatorClient) -> None:
    """An unknown rule is no silent success."""
    with pytest.raises(SimulatorError, match="no rule is named nothing"):
        await simulator.enable("nothing")


async def test_scenes_and_rules_are_in_force_when_the_control_call_returns(
    lab: Running, simulator: SimulatorClient
) -> None:
    """A demo that begins its outage knows that the port is closed."""
    await simulator.follow(Script((Rule("down", Refuse(), "fcm", scenes=("outage",)),)))
    provider = lab.provider("fcm")
    await simulator.set_scene("outage")
    assert not isinstance(await provider.send(call("push")), Accepted)
    await simulator.enable("down", False)
    assert isinstance(await provider.send(call("push")), Accepted)
    assert (await simulator.stats()).scene == "outage"
    await simulator.set_scene("")
    await provider.close()


async def test_a_port_opens_again_by_time_alone(lab: Running, simulator: SimulatorClient) -> None:
    """An outage of a script ends without a control call."""
    await simulator.follow(Script((Rule("down", Refuse(), "fcm", until_ms=150),)))
    provider = lab.provider("fcm")
    while not isinstance(await provider.send(call("push")), Accepted):
        continue
    await provider.close()


async def test_stats_count_answers_by_what_they_said(lab: Running, simulator: SimulatorClient) -> None:
    """One line per provider and answer."""
    await sent(lab, "d-1", "d-2")
    stats = await simulator.stats()
    assert stats.answers["fcm"] == {"200": 2}
    assert (stats.ledger.calls, stats.ledger.accepted) == (2, 2)


async def test_a_long_ledger_is_read_in_pages(lab: Running, simulator: SimulatorClient) -> None:
    """The client asks on until the end."""
    provider = lab.provider("fcm", HttpSettings(connections=8, connect_ms=60_000))
    await asyncio.gather(*(provider.send(call("push", f"d-{n}")) for n in range(1_100)))
    await provider.close()
    assert len({entry.delivery_id async for entry in simulator.entries(provider="fcm")}) == 1_100


@pytest.mark.parametrize("token, script", [("short", ""), ("long enough a token", "rules: [{}]")])
def test_what_it_cannot_start_with_is_one_line(tmp_path: Path, token: str, script: str) -> None:
    """Exit 2 and a sentence, no traceback."""
    (tmp_path / "token").write_text(token)
    (tmp_path / "script.yaml").write_text(script)
    command = [sys.executable, "-m", "connectors.simulator", "--folder", str(tmp_path / "data")]
    options = ["--token-file", str(tmp_path / "token"), "--script", str(tmp_path / "script.yaml")]
    ended = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert len(ended.stderr.splitlines()) == 1


def test_its_files_are_for_the_owner_only(lab: Running) -> None:
    """Accounts and messages are not for others, not even simulated ones."""
    names = ("credentials.json", "fcm-service-account.json", "ledger.jsonl")
    assert [(lab.folder / name).stat().st_mode & 0o077 for name in names] == [0, 0, 0]
    assert json.loads((lab.folder / names[1]).read_bytes())["token_uri"].startswith("http://127.0.0.1:")
