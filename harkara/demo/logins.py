"""How long one-time passwords took, from Kafka's confirmation to the provider's door."""

from collections.abc import Iterable, Mapping

from msgspec import Struct

from harkara.demo.events import Event
from harkara.demo.people import DEAD, Person
from harkara.demo.percentiles import Percentiles, percentiles
from streams.catalog.tenant import DEFAULT_TENANT
from streams.ids import delivery_id
from streams.policy.endpoints import CONTACT
from streams.topics import Channel


class Logins(Struct, frozen=True):
    """One scene's passwords. Times are wall ms, of first attempts on every channel."""

    scene: str
    passwords: int
    ms: Percentiles
    missing: int  # confirmed deliveries of which no provider was ever called
    values: tuple[int, ...]


def measure(
    scene: str,
    events: Iterable[Event],
    people: Mapping[str, Person],
    acknowledged: Mapping[str, int],
    first_call_ms: Mapping[str, int],
) -> Logins:
    """Compare the producer's confirmations with the ledger; ids are derived as the router does it."""
    values: list[int] = []
    count = missing = 0
    for event in events:
        count += 1
        for own in _deliveries(event.notification_id, people[event.user_id]):
            called = first_call_ms.get(own)
            if called is None:
                missing += 1
            else:
                values.append(called - acknowledged[event.notification_id])
    return Logins(scene, count, percentiles(values), missing, tuple(values))


def _deliveries(notification_id: str, person: Person) -> list[str]:
    """Return the ids of all but those to dead phones, which the pipeline may know of by then."""
    phones = [
        device
        for device, token in zip(person.devices, person.tokens, strict=True)
        if not token.endswith(DEAD)
    ]
    endpoints = [(Channel.SMS, CONTACT), *((Channel.PUSH, device) for device in phones)]
    return [
        delivery_id(DEFAULT_TENANT, person.user_id, notification_id, 0, channel, endpoint)
        for channel, endpoint in endpoints
    ]
