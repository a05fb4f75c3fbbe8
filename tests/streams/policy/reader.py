"""A user whose places under caps are kept from event to event, as the router keeps them."""

from typing import Any

from streams.policy.caps import release, settle
from streams.policy.decide import reconsider
from streams.reasons import Reason
from streams.records.decision import Deliver, Suppress
from streams.records.delivery import Delivery
from streams.records.followup import Settle
from streams.records.state import Profile, Reservations
from tests.streams.policy.world import FRESHNESS, catalog, decided, facts, request, user


class Reader:
    """One user whose places are kept as the router keeps them."""

    def __init__(self, profile: Profile | None = None) -> None:
        self.profile = profile or user()
        self.places = Reservations()

    def gets(self, kind: str, name: str, now_ms: int, **more: Any) -> list[Any]:
        """Admit one event; returns its decisions."""
        wanted = request(kind, notification_id=name, **more)
        found = decided(wanted, self.profile, now_ms, self.places.held)
        self.places = settle(self.places, wanted, tuple(found), now_ms)
        return found

    def returns(self, delivery: Delivery, now_ms: int, since: Reason = Reason.QUIET_HOURS) -> list[Any]:
        """Decide again about what falls due."""
        found = reconsider(
            delivery, since, facts(self.profile, self.places.held), catalog(), FRESHNESS, now_ms
        )
        self.places = settle(self.places, delivery, found, now_ms)
        return list(found)

    def fails(self, decision: Any, name: str) -> None:
        """Give a place back, as a sender does after a failure."""
        target = decision.target
        self.places = release(self.places, Settle("u1", name, target.delivery_id, target.channel))


def sent(decisions: list[Any]) -> bool:
    """Tell whether all of an event's deliveries go ahead now."""
    return all(isinstance(decision, Deliver) for decision in decisions)


def capped(decisions: list[Any]) -> bool:
    """Tell whether all of an event's deliveries hit a cap."""
    return all(isinstance(d, Suppress) and d.reason is Reason.CAP_REACHED for d in decisions)
