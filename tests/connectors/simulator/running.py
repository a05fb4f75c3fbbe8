"""A simulator in a process of its own, and providers that call it."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from connectors.providers.fcm import Fcm, FcmSettings
from connectors.providers.http import HttpSettings
from connectors.providers.provider import Call, Provider
from connectors.providers.service_account import ServiceAccount
from connectors.providers.twilio import Twilio, TwilioSettings
from connectors.simulator.__main__ import WallClock
from connectors.simulator.client import SimulatorClient
from streams.rendering.message import Message, PushMessage, SmsMessage

TOKEN = "a-token-of-the-tests"
#: Short, so that a test of silence is over soon; calls on loopback take a millisecond.
QUICK = HttpSettings(connections=8, connect_ms=2_000, answer_ms=300)


@dataclass
class Running:
    """Where a simulator answers and what it was started with."""

    process: subprocess.Popen[bytes]
    folder: Path
    urls: dict[str, str]

    def client(self) -> SimulatorClient:
        """Return a client for its control calls."""
        return SimulatorClient(self.urls["control"], TOKEN)

    def provider(self, name: str, http: HttpSettings = QUICK) -> Provider:
        """Return a provider that calls the simulated one of this name."""
        credentials = msgspec.json.decode((self.folder / "credentials.json").read_bytes())
        if name == "fcm":
            account = ServiceAccount.read((self.folder / "fcm-service-account.json").read_bytes())
            return Fcm(FcmSettings(account, self.urls["fcm"], http=http), WallClock())
        return Twilio(
            TwilioSettings(
                account_sid=credentials["twilio_account_sid"],
                secret=credentials["twilio_auth_token"],
                sender="+15005550006",
                callback="https://harkara.example/webhooks/twilio",
                callback_secret=b"a secret of the tests",
                url=self.urls["twilio"],
                http=http,
            ),
            WallClock(),
        )


@contextmanager
def running(folder: Path, *options: str) -> Iterator[Running]:
    """Run a simulator on a folder until the block ends."""
    folder.mkdir(exist_ok=True)
    token_file = folder / "token"
    token_file.write_text(TOKEN)
    command = [sys.executable, "-m", "connectors.simulator", "--folder", str(folder)]
    process = subprocess.Popen([*command, "--token-file", str(token_file), *options], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        urls = json.loads(process.stdout.readline())
        assert urls.pop("ready")
        yield Running(process, folder, urls)
    finally:
        process.kill()
        process.communicate()


def call(channel: str, delivery_id: str = "d-1", address: str = "") -> Call:
    """Return a call with a minute to live, for an address that the channel takes."""
    message: Message = (
        PushMessage("Shipped", "Order 7 is on its way.", {"order": "7"})
        if channel == "push"
        else SmsMessage("Order 7 is on its way.", 1)
    )
    return Call(
        delivery_id=delivery_id,
        idempotency_key=delivery_id,
        address=address or ("token-1" if channel == "push" else "+8801712345678"),
        message=message,
        now_ms=1_000_000,
        expires_at_ms=1_060_000,
    )
