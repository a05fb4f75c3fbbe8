"""What a decision about a user rests on."""

from msgspec import Struct

from streams.records.state import Profile, Reservations


class UserFacts(Struct, frozen=True, gc=False):
    """One user as the router knows them at the moment of a decision; no profile: nobody told us."""

    profile: Profile | None
    reservations: Reservations = Reservations()
