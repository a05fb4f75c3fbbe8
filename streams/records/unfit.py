"""Why a record cannot be processed here: a value, never an exception."""

from msgspec import Struct

from streams.reasons import Reason


class Unfit(Struct, frozen=True, gc=False):
    """A refusal with its reason and a JSON pointer to the place.

    `dead_letter` is true for bytes nobody can read or that broke our own code: those go
    whole to `dead-letters`, everything else to the public `rejected` topic. `detail` never holds
    a value of the record; the ids are there as far as they could be read.
    """

    reason: Reason
    pointer: str = ""
    detail: str = ""
    dead_letter: bool = False
    notification_id: str = ""
    idempotency_key: str = ""


class Foreign(Struct, frozen=True, gc=False):
    """A record that another partitioner put on the wrong partition: it goes home unread.

    `origin` ("topic/partition/offset") stays with it as its identity, so that two copies of one
    re-keyed record are one source.
    """

    partition: int  # where its key belongs
    origin: str
