"""Tells before an event is sent what the router would say to it."""

import difflib

from streams.catalog import Catalog
from streams.catalog.tenant import DEFAULT_TENANT
from streams.ids import partition_of
from streams.policy.admission import read_request
from streams.records.codec import to_json
from streams.records.notification import Notification
from streams.records.unfit import Unfit
from streams.topics import INGEST, Lane


def unfit(notification: Notification, catalog: Catalog) -> str | None:
    """Return why the router would refuse it, in one line that says how to mend it; None if it would not."""
    kind = catalog.type(notification.type)
    if kind is None or kind.retired:
        known = sorted(name for name, each in catalog.types.items() if not each.retired)
        near = difflib.get_close_matches(notification.type, known, n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        return f"no type {notification.type!r} in the catalog; {hint}There are: {', '.join(known)}"
    key, topic = notification.user_id.encode(), INGEST[kind.lane]
    read = read_request(
        topic, 1, key, to_json(notification), partition_of(key, 1), 0, None, catalog, DEFAULT_TENANT
    )
    if not isinstance(read, Unfit):
        return None
    place = f" at {read.pointer}" if read.pointer else ""
    return f"{read.reason}{place}: {read.detail}" if read.detail else f"{read.reason}{place}"


def lane_of(notification: Notification, catalog: Catalog) -> Lane:
    """Return the lane of the event's type; transactional for a type that nobody knows."""
    kind = catalog.type(notification.type)
    return Lane.TRANSACTIONAL if kind is None else kind.lane
