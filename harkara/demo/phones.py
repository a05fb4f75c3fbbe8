"""What really arrived, by the ledger of the simulated providers: the witness that is not ours."""

from collections import Counter

from msgspec import Struct

from connectors.simulator.client import SimulatorClient


class ProviderFigures(Struct):
    """Calls to one provider during the day."""

    calls: int = 0
    accepted: int = 0  # messages that went out
    answers: dict[str, int] = {}  # by what it answered


class Phones(Struct):
    """All that the providers got from one point of the ledger on."""

    received: dict[str, int]  # delivery id -> how often it went out
    first_call_ms: dict[str, int]  # delivery id -> wall ms of its first call, whatever came of it
    providers: dict[str, ProviderFigures]

    @property
    def repeated(self) -> dict[str, int]:
        """Deliveries that went out more than once."""
        return {delivery_id: times for delivery_id, times in self.received.items() if times > 1}


async def read_phones(simulator: SimulatorClient, since: int) -> Phones:
    """Read the ledger from entry number `since` on."""
    received: Counter[str] = Counter()
    first_call_ms: dict[str, int] = {}
    providers: dict[str, ProviderFigures] = {}
    async for entry in simulator.entries(since=since):
        figures = providers.setdefault(entry.provider, ProviderFigures(answers={}))
        figures.calls += 1
        figures.accepted += entry.accepted
        figures.answers[entry.answer] = figures.answers.get(entry.answer, 0) + 1
        if entry.arrival == 1:
            first_call_ms[entry.delivery_id] = entry.at_ms
        if entry.accepted:
            received[entry.delivery_id] += 1
    return Phones(dict(received), first_call_ms, providers)
