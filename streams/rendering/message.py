"""A rendered message, ready for a provider."""

from msgspec import Struct


class PushMessage(Struct, frozen=True, gc=False):
    """What a phone shows, and the app's own data (all strings)."""

    title: str
    body: str
    data: dict[str, str]


class SmsMessage(Struct, frozen=True, gc=False):
    """One text and into how many parts a gateway will cut it (R-098)."""

    text: str
    segments: int


Message = PushMessage | SmsMessage
