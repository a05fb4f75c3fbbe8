"""A record becomes a request, or the reason why not; a refusal changes no state.

So a refused event does not use up its key: a corrected copy is admitted (R-039).
"""

import re
from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from streams.catalog import Catalog, NotificationType
from streams.ids import body_hash, notification_id, partition_of
from streams.policy.addresses import canonical
from streams.policy.readable import MAX_BYTES, decoded
from streams.policy.request import Request
from streams.reasons import Reason
from streams.records.notification import Notification
from streams.records.source import Source
from streams.records.unfit import Foreign, Unfit
from streams.topics import CHANNELS, Topic

__all__ = ["MAX_BYTES", "ORIGIN_HEADER", "Request", "read_request"]

#: Carries a re-keyed record's identity.
ORIGIN_HEADER = "harkara-origin"
_LONGEST_ORIGIN = 200

# Milliseconds from 1973 to 5138: what is less was given in seconds, what is more in microseconds.
_LEAST_MS, _MOST_MS = 10**11, 10**14
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_NO_ADDRESS: dict[str, str] = {}

# msgpack, as state will hold it: a number that does not fit there is refused here.
_encode = msgspec.msgpack.Encoder(order="deterministic").encode


def read_request(
    topic: Topic,
    partitions: int,
    key: bytes | None,
    value: bytes | None,
    partition: int,
    offset: int,
    headers: Sequence[tuple[str, bytes]] | None,
    catalog: Catalog,
    tenant: str,
) -> Request | Unfit | Foreign:
    """Return what the record asks for; Foreign if its key belongs to another partition.

    A record that was re-keyed is identified by where it came from first, so that two copies of it
    are one source.
    """
    if not key:
        return Unfit(Reason.EMPTY_KEY, "", "the record's key must be the user id")
    origin = _origin(headers) if headers else None
    home = partition_of(key, partitions)
    if home != partition:
        return Foreign(home, origin or f"{topic.full_name}/{partition}/{offset}")
    notification = decoded(value)
    if isinstance(notification, Unfit):
        return notification
    kind = catalog.types.get(notification.type)
    unfit = _unfit(notification, key, kind)
    if unfit is not None or kind is None:
        return _with_ids(unfit or _UNKNOWN_TYPE, notification)
    inline = _NO_ADDRESS if notification.address is None else _addresses(notification.address, kind)
    if isinstance(inline, Unfit):
        return _with_ids(inline, notification)
    try:
        body = _body(notification)
    except OverflowError:
        return _with_ids(Unfit(Reason.INVALID_FIELD, "/data", "a number beyond 64 bits"), notification)
    return Request(
        notification,
        kind,
        tenant,
        Source(topic.number, offset if origin is None else origin),
        partition,
        offset,
        notification.notification_id or notification_id(tenant, notification.idempotency_key),
        notification.idempotency_key or notification.notification_id,
        body,
        inline,
    )


_UNKNOWN_TYPE = Unfit(Reason.UNKNOWN_TYPE, "/type", "the catalog has no such type")
_NO_IDENTITY = Unfit(Reason.NO_IDENTITY, "", "needs notification_id or idempotency_key")


def _unfit(notification: Notification, key: bytes, kind: NotificationType | None) -> Unfit | None:
    """Return the first thing that is wrong with a notification's own fields."""
    user = notification.user_id
    if user.encode() != key:
        return _wrong_key(key)
    if not (user.isascii() and user.isprintable()) and _CONTROLS.search(user):
        return Unfit(Reason.INVALID_FIELD, "/user_id", "holds a control character")
    if not (notification.notification_id or notification.idempotency_key):
        return _NO_IDENTITY
    if kind is None or kind.retired:
        return _UNKNOWN_TYPE
    for name, at_ms in (
        ("created_at", notification.created_at),
        ("send_at", notification.send_at),
        ("expires_at", notification.expires_at),
    ):
        if at_ms is not None and not _LEAST_MS <= at_ms < _MOST_MS:
            return Unfit(Reason.NOT_MILLISECONDS, f"/{name}", "must be milliseconds since the epoch")
    if notification.channels is not None:
        for index, channel in enumerate(notification.channels):
            if channel not in CHANNELS:
                return Unfit(Reason.INVALID_FIELD, f"/channels/{index}", "is no channel")
    return kind.data.check(notification.data)


def _wrong_key(key: bytes) -> Unfit:
    try:
        key.decode()
    except UnicodeDecodeError:
        return Unfit(Reason.UNDECODABLE, "", "the record's key is not UTF-8", dead_letter=True)
    return Unfit(Reason.KEY_MISMATCH, "/user_id", "record key and user_id differ")


def _addresses(address: dict[str, str], kind: NotificationType) -> dict[str, str] | Unfit:
    """Return inline addresses in canonical form; only direct types may bring one."""
    if not kind.direct:
        return Unfit(Reason.INVALID_FIELD, "/address", "only a direct type may bring an address")
    found: dict[str, str] = {}
    for channel, text in address.items():
        if channel not in CHANNELS:
            return Unfit(Reason.INVALID_FIELD, "/address", "holds a name that is no channel")
        spelled = canonical(channel, text)
        if spelled is None:
            return Unfit(Reason.INVALID_FIELD, f"/address/{channel}", "is no valid address")
        found[channel] = spelled
    return found


def _body(notification: Notification) -> int:
    """Return a fingerprint of all but the user, who is known, and what tells nothing: trace and source."""
    return body_hash(
        _encode(
            (
                notification.type,
                notification.data,
                notification.notification_id,
                notification.idempotency_key,
                notification.created_at,
                notification.send_at,
                notification.expires_at,
                notification.locale,
                notification.channels,
                notification.campaign_id,
                notification.address,
            )
        )
    )


def _origin(headers: Sequence[tuple[str, bytes]]) -> str | None:
    for name, value in headers:
        if name == ORIGIN_HEADER and value and len(value) <= _LONGEST_ORIGIN:
            return bytes(value).decode("ascii", "replace")
    return None


def _with_ids(unfit: Unfit, notification: Notification) -> Unfit:
    return replace(
        unfit, notification_id=notification.notification_id, idempotency_key=notification.idempotency_key
    )
