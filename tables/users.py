"""Users as the router sees them during one block: profile, places under caps, first results.

Everything a block needs is read by three reads; everything it changes is written once, places
under caps before first results: a restore is a prefix of the writes, and a place without a first
result is counted again by nobody (it is the same notification's), the other way round it would
be lost.
"""

from collections.abc import Callable, Iterable

from connectors.kafka.block import Writes
from connectors.kafka.view import View
from streams.policy.decide import UserFacts
from streams.records.state import Admission, Profile, Reservations
from streams.topics import USER_STATE
from tables import caps, dedup
from tables.preferences import Preferences


class UsersOfBlock:
    """The users of one block, and what the block changes of them."""

    def __init__(
        self,
        profiles: dict[bytes, Profile | None],
        reservations: dict[bytes, Reservations],
        admissions: dict[bytes, Admission],
    ) -> None:
        self._profiles = profiles
        self._reservations = reservations
        self._admissions = admissions
        self._held: dict[bytes, Reservations] = {}
        self._admitted: dict[bytes, Admission] = {}

    def facts(self, user: bytes) -> UserFacts:
        """Return what a decision about the user rests on."""
        return UserFacts(self._profiles[user], self._reservations[user])

    def recall(self, row: bytes) -> Admission | None:
        """Return the first result of an event, if it has one."""
        return self._admissions.get(row)

    def remember(self, row: bytes, admission: Admission) -> None:
        """Keep a first result, or write it again on a replay."""
        self._admissions[row] = self._admitted[row] = admission

    def hold(self, user: bytes, reservations: Reservations) -> None:
        """Keep the user's places under caps."""
        if reservations is not self._reservations[user]:
            self._reservations[user] = self._held[user] = reservations

    def save(self, writes: Writes) -> None:
        """Add all changes to the block's writes, in the order a restore relies on."""
        for user, reservations in self._held.items():
            caps.save(writes, user, reservations)
        for row, admission in self._admitted.items():
            dedup.save(writes, row, admission)


class Users:
    """Opens the users of a block."""

    def __init__(self, view: Callable[[str, int], View], preferences: Preferences) -> None:
        self._view = view
        self._preferences = preferences

    def open(self, partition: int, users: Iterable[bytes], rows: Iterable[bytes] = ()) -> UsersOfBlock:
        """Read what a block about these users and events needs."""
        distinct = list(dict.fromkeys(users))
        view = self._view(USER_STATE, partition)
        return UsersOfBlock(
            self._preferences.of_many(partition, distinct),
            caps.held_by_many(view, distinct),
            dedup.admitted_of_many(view, list(dict.fromkeys(rows))),
        )
