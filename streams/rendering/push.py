"""A push message: what the phone shows, and the app's own data as strings."""

from typing import Any

import msgspec

from streams.records.delivery import Delivery
from streams.rendering.bad_template import BadTemplate
from streams.rendering.cut import cut
from streams.rendering.message import PushMessage

#: FCM and APNs take 4,096 bytes; the rest is for what the provider's adapter adds: the
#: delivery id, time-to-live and the JSON around them.
MESSAGE_BYTES = 4096 - 160
#: A body cut shorter than this says nothing.
_LEAST_BODY = 40

_encode = msgspec.json.Encoder().encode
# Keys FCM keeps for itself: a message that carries one is refused whole.
_RESERVED = ("google.", "gcm.")
_RESERVED_WORDS = frozenset({"from", "message_type", "collapse_key"})


def push(title: str, body: str, delivery: Delivery) -> PushMessage | BadTemplate:
    """Return the message; a body that is too long is cut between letters, data never is."""
    data = strings(delivery.data)
    data["notification_id"] = delivery.notification_id
    data["type"] = delivery.type
    # Quotes, backslashes and line breaks take more bytes in JSON than in the text.
    escapes = len(_encode(body)) - len(body.encode())
    room = MESSAGE_BYTES - len(_encode((title, data))) - escapes
    if len(body.encode()) > room:
        if room < _LEAST_BODY:
            return BadTemplate(f"title and data leave no room for a body in {MESSAGE_BYTES} bytes")
        body = cut(body, room)
    return PushMessage(title, body, data)


def strings(data: dict[str, Any]) -> dict[str, str]:
    """Return the data as FCM takes it: every value a string in JSON's spelling, null left out (TPL-07)."""
    return {
        name: value if isinstance(value, str) else _encode(value).decode()
        for name, value in data.items()
        if value is not None and name not in _RESERVED_WORDS and not name.startswith(_RESERVED)
    }
