"""Where a decision came from: the identity that a replay recognises."""

from msgspec import Struct


class Source(Struct, frozen=True, gc=False, array_like=True):
    """A record's coordinates, or a row the schedule fired.

    `topic` is the topic's wire number (`streams.topics`), 0 for the schedule. `position`
    is the offset; for a re-keyed record its origin "partition/offset"; for the schedule
    the row id. Two sources are the same record if and only if they are equal.
    """

    topic: int
    position: int | str
