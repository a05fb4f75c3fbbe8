"""Places under caps: one bounded document a user."""

from connectors.kafka.block import Writes
from connectors.kafka.view import View
from streams.records.codec import state_reservations, to_state
from streams.records.state import Reservations
from streams.topics import USER_STATE
from tables.keys import caps_key

NOTHING_HELD = Reservations()


def held_by_many(view: View, users: list[bytes]) -> dict[bytes, Reservations]:
    """Return the places many users hold, by one read."""
    found = view.get_many([caps_key(user) for user in users])
    return {
        user: NOTHING_HELD if raw is None else state_reservations(raw)
        for user, raw in zip(users, found, strict=True)
    }


def save(writes: Writes, user: bytes, reservations: Reservations) -> None:
    """Keep a user's places; a user who holds none has no row."""
    if reservations.held:
        writes.put(USER_STATE, caps_key(user), to_state(reservations))
    else:
        writes.delete(USER_STATE, caps_key(user))
