"""Why a record cannot be processed: a value, never an exception."""

from msgspec import Struct

from streams.reasons import Reason


class Unfit(Struct, frozen=True, gc=False):
    """A refusal with its reason and a JSON pointer to the place.

    `dead_letter` is true for bytes nobody can read or that broke our own code: those go
    whole to `dead-letters`, everything else to the public `rejected` topic.
    """

    reason: Reason
    pointer: str = ""
    detail: str = ""
    dead_letter: bool = False
