"""An event that was read and found fit: what a decision is made about."""

from msgspec import Struct

from streams.catalog import NotificationType
from streams.records.notification import Notification
from streams.records.source import Source
from streams.topics import Lane


class Request(Struct, frozen=True, gc=False):
    """A notification with its type, its identity and its coordinates.

    `body` is a fingerprint that two copies of one event share, whatever the order of their keys.
    `address` holds the inline addresses in canonical form, by channel.
    """

    notification: Notification
    type: NotificationType
    tenant: str
    source: Source
    src_partition: int
    src_offset: int
    notification_id: str
    dedup_key: str
    body: int
    address: dict[str, str]

    @property
    def lane(self) -> Lane:
        """The type's lane, wherever the event was found (R-055)."""
        return self.type.lane

    @property
    def category(self) -> str:
        return self.type.category

    @property
    def template(self) -> str:
        return self.type.template

    def expires_at_ms(self, admitted_ms: int) -> int:
        """Return the instant from which on it is not sent any more.

        The type's time-to-live runs from the event's creation, or from the instant it is asked
        for; a producer may shorten it, never prolong it. Without `created_at` it runs from the
        admission.
        """
        notification = self.notification
        start = admitted_ms
        if notification.created_at is not None and notification.created_at < start:
            start = notification.created_at
        if notification.send_at is not None and notification.send_at > start:
            start = notification.send_at
        end = start + self.type.ttl_ms
        asked = notification.expires_at
        return end if asked is None or asked > end else asked
