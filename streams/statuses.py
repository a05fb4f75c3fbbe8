"""The states a delivery can be in, as everybody sees them (design §6, R-209…R-212)."""

from enum import StrEnum


class Status(StrEnum):
    """One vocabulary for topics, state, analytics and people."""

    ACCEPTED = "accepted"  # the delivery exists; its source was admitted
    QUEUED = "queued"  # handed to a sender
    DEFERRED = "deferred"  # waits in the schedule, with a reason and an instant
    SENDING = "sending"  # an attempt was made and did not settle the delivery
    SENT = "sent"  # the provider took it; says nothing about the phone
    DELIVERED = "delivered"
    READ = "read"
    CLICKED = "clicked"
    FAILED = "failed"
    BOUNCED = "bounced"
    EXPIRED = "expired"
    SUPPRESSED = "suppressed"
    CANCELLED = "cancelled"
    MERGED = "merged"
    UNKNOWN = "unknown"  # nobody can tell whether the provider took it
    # Notification-level facts, beside the deliveries' own life:
    DUPLICATE = "duplicate"  # the same event again; it made no delivery


#: States in which the pipeline does nothing more by itself.
FINAL = frozenset(
    {
        Status.SENT,
        Status.DELIVERED,
        Status.READ,
        Status.CLICKED,
        Status.FAILED,
        Status.BOUNCED,
        Status.EXPIRED,
        Status.SUPPRESSED,
        Status.CANCELLED,
        Status.MERGED,
        Status.UNKNOWN,
    }
)
