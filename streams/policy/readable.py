"""Bytes become a notification, or the reason why nobody can read them.

One reader, one answer: a key that stands twice counts once, the last time, and `user_id` must equal
the record's key, so that no two stages see different users (TPL-11). NaN, infinite numbers and
lone surrogates are not JSON here (REB-02).
"""

from typing import Any

import msgspec
from msgspec.structs import replace

from streams.reasons import Reason
from streams.records.codec import pointer_of
from streams.records.notification import Notification
from streams.records.unfit import Unfit

#: A larger record is refused: templates need a few fields, not documents.
MAX_BYTES = 256 * 1024
# Deeper data could be read here and then fail in a deeper stack.
_MOST_BRACKETS = 64

_decode = msgspec.json.Decoder(Notification).decode


def decoded(value: bytes | None) -> Notification | Unfit:
    """Return the notification; bytes that are no text at all are for the dead letters."""
    if not value:
        return Unfit(Reason.UNDECODABLE, "", "the record is empty", dead_letter=True)
    if len(value) > MAX_BYTES:
        return Unfit(Reason.TOO_LARGE, "", f"{len(value)} bytes; the most is {MAX_BYTES}")
    if value.count(b"[") + value.count(b"{") > _MOST_BRACKETS and _depth(value) > _MOST_BRACKETS:
        return Unfit(Reason.INVALID_JSON, "/data", f"nested deeper than {_MOST_BRACKETS}")
    try:
        return _decode(value)
    except msgspec.ValidationError as error:
        return _invalid(value, error)
    except msgspec.DecodeError as error:
        return _no_json(value, str(error))


def _depth(value: bytes) -> int:
    """Return how deep brackets nest, those inside of texts counted too: an upper bound."""
    depth = deepest = 0
    for byte in value:
        if byte in b"[{":
            depth += 1
            deepest = max(deepest, depth)
        elif byte in b"]}":
            depth -= 1
    return deepest


def _no_json(value: bytes, message: str) -> Unfit:
    try:
        value.decode()
    except UnicodeDecodeError as error:
        detail = f"not UTF-8 at byte {error.start}"
        return Unfit(Reason.UNDECODABLE, "", detail, dead_letter=True)
    if "surrogate" in message or ("truncated" in message and rb"\ud" in value.lower()):
        message = "a text holds half of a surrogate pair"
    return Unfit(Reason.INVALID_JSON, "", message)


def _invalid(value: bytes, error: msgspec.ValidationError) -> Unfit:
    text = str(error).partition(" - at ")[0]
    pointer = pointer_of(error)
    if not pointer and not text.startswith("Object missing"):
        return Unfit(Reason.INVALID_JSON, "", "not a JSON object")
    if text.startswith("Object missing"):
        pointer += "/" + text.split("`")[1]
    try:
        ids = msgspec.json.decode(value, type=_Ids)
    except (msgspec.MsgspecError, RecursionError):
        ids = _Ids()
    return ids.put_on(Unfit(Reason.INVALID_FIELD, pointer, text))


class _Ids(msgspec.Struct, frozen=True, gc=False):
    """The ids of an event whose other fields are wrong, if they are texts."""

    notification_id: Any = ""
    idempotency_key: Any = ""

    def put_on(self, unfit: Unfit) -> Unfit:
        texts = [
            value if isinstance(value, str) else "" for value in (self.notification_id, self.idempotency_key)
        ]
        return replace(unfit, notification_id=texts[0], idempotency_key=texts[1])
