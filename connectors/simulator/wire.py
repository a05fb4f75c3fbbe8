"""What a simulated provider is to the server: it reads calls and words answers."""

from collections.abc import Mapping
from typing import Protocol

from msgspec import Struct

from connectors.simulator.script import Quota, Refusal


class Reply(Struct, frozen=True, gc=False):
    """An HTTP answer; `label` is how the ledger names it."""

    status: int
    body: bytes
    label: str = ""
    content_type: str = "application/json; charset=UTF-8"


class Arrival(Struct, frozen=True, gc=False):
    """A message that a provider would take."""

    address: str
    delivery_id: str
    text: str


class Wire(Protocol):
    """One provider's wire format."""

    name: str

    def read(self, path: str, headers: Mapping[str, str], body: bytes, now_ms: int) -> Arrival | Reply:
        """Return the message of a call, or the provider's answer to one it cannot take."""
        ...

    def accept(self, arrival: Arrival, message_id: str) -> Reply:
        """Return the answer for a message that was taken."""
        ...

    def message_id(self, at_ms: int, seq: int) -> str:
        """Return the provider's id for its `seq`-th message: another for each."""
        ...

    def refuse(self, fault: Refusal | Quota) -> Reply:
        """Return the provider's answer for a fault of the script."""
        ...
