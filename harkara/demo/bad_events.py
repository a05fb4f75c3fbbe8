"""A few events of each kind that nobody should send, and where each of them must end."""

from harkara.demo.events import Event, event
from harkara.demo.people import Person
from streams.reasons import Reason
from streams.records.codec import to_json
from streams.records.notification import Notification
from streams.topics import INGEST, Lane

#: Kind of a bad event -> the reason with which it is refused.
REFUSED_AS = {
    "unknown_type": Reason.UNKNOWN_TYPE,
    "missing_field": Reason.MISSING_PARAMETER,
    "seconds": Reason.NOT_MILLISECONDS,
    "bad_utf8": Reason.UNDECODABLE,  # to `dead-letters`, whole; the others to `rejected`
    "empty_key": Reason.EMPTY_KEY,
    "foreign_key": Reason.KEY_MISMATCH,
    "no_identity": Reason.NO_IDENTITY,
    "key_reused": Reason.KEY_REUSED,
}
_LANE = Lane.TRANSACTIONAL


def bad_events(at_ms: int, person: Person, key: str, created_ms: int) -> list[Event]:
    """Return one event of each kind but `key_reused`, all about one person."""
    good = Notification(
        user_id=person.user_id,
        type="order_shipped",
        data={"order": "BD-7781", "day": "Sunday"},
        idempotency_key=key,
        created_at=created_ms,
        source="shop",
    )
    user, topic = person.user_id.encode(), INGEST[_LANE].full_name

    def changed(kind: str, **fields: object) -> Event:
        given = {name: getattr(good, name) for name in good.__struct_fields__} | fields
        given["idempotency_key"] = given["idempotency_key"] and f"{key}-{kind}"
        return Event(at_ms, topic, user, to_json(Notification(**given)), kind, user_id=person.user_id)

    torn = to_json(good).replace(b"Sunday", b"Sunda\xff")
    return [
        changed("unknown_type", type="order_shiped"),
        changed("missing_field", data={"order": "BD-7781"}),
        changed("seconds", created_at=created_ms // 1000),
        Event(at_ms, topic, user, torn, "bad_utf8", user_id=person.user_id),
        Event(at_ms, topic, b"", event(at_ms, _LANE, good).value, "empty_key"),
        Event(at_ms, topic, b"someone-else", to_json(good), "foreign_key"),
        changed("no_identity", idempotency_key=""),
    ]
