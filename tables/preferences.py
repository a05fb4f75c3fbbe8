"""What we know of each user: one document a user, with the last applied command's offset."""

from collections.abc import Callable

from connectors.kafka.block import Writes
from connectors.kafka.view import View
from streams.records.codec import state_profile, to_state
from streams.records.state import Profile
from streams.topics import PREFERENCES


class Preferences:
    """Profiles by user, one partition at a time."""

    def __init__(self, view: Callable[[str, int], View]) -> None:
        self._view = view

    def of(self, partition: int, user: bytes) -> Profile | None:
        """Return the user's profile, or None for a user nobody told us about."""
        raw = self._view(PREFERENCES, partition).get(user)
        return None if raw is None else state_profile(raw)

    def of_many(self, partition: int, users: list[bytes]) -> dict[bytes, Profile | None]:
        """Return many profiles by one read."""
        found = self._view(PREFERENCES, partition).get_many(users)
        return {
            user: None if raw is None else state_profile(raw) for user, raw in zip(users, found, strict=True)
        }

    def save(self, writes: Writes, user: bytes, profile: Profile) -> None:
        """Keep the profile."""
        writes.put(PREFERENCES, user, to_state(profile))
