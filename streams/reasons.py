"""Every machine-readable reason for a message that was not sent, or not yet (requirements §22)."""

from enum import StrEnum


class Reason(StrEnum):
    """One code per cause; the text beside it is for people."""

    # refused at admission: the event ends in `rejected`
    INVALID_JSON = "invalid_json"  # bytes that are not a JSON object in UTF-8
    INVALID_FIELD = "invalid_field"  # a field is missing, of the wrong type or out of bounds
    EMPTY_KEY = "empty_key"  # the record has no key, so it belongs to nobody
    KEY_MISMATCH = "key_mismatch"  # record key and user_id differ
    NO_IDENTITY = "no_identity"  # neither notification_id nor idempotency_key
    UNKNOWN_TYPE = "unknown_type"
    UNKNOWN_TENANT = "unknown_tenant"
    MISSING_PARAMETER = "missing_parameter"
    NOT_MILLISECONDS = "not_milliseconds"  # a time that looks like seconds
    TOO_LARGE = "too_large"
    KEY_REUSED = "key_reused"  # same idempotency key, other body (422)
    UNKNOWN_ZONE = "unknown_zone"
    FORBIDDEN = "forbidden"
    BAD_COMMAND = "bad_command"  # a profile command that cannot be applied

    # repeats
    DUPLICATE = "duplicate"
    DUPLICATE_CONTENT = "duplicate_content"  # same template within the type's window

    # suppressed by a rule
    OPTED_OUT = "opted_out"
    NO_CONSENT = "no_consent"
    BLOCKED = "blocked"
    ERASED = "erased"
    NO_ENDPOINT = "no_endpoint"
    ENDPOINT_INACTIVE = "endpoint_inactive"
    CHANNEL_UNAVAILABLE = "channel_unavailable"
    CAP_REACHED = "cap_reached"
    QUIET_HOURS = "quiet_hours"
    EXPIRED = "expired"
    SUSPENDED = "suspended"
    CANCELLED = "cancelled"
    REPLACED = "replaced"  # a newer one-time password of the same purpose
    SUPPRESSED_ADDRESS = "suppressed_address"
    OTP_LIMIT = "otp_limit"
    PREFERENCES_UNAVAILABLE = "preferences_unavailable"
    BUDGET_EXCEEDED = "budget_exceeded"
    QUOTA_EXHAUSTED = "quota_exhausted"

    # waits
    SCHEDULED = "scheduled"  # the producer asked for a later time
    AWAITING_PROFILE = "awaiting_profile"  # direct user whose profile has not come yet
    BUSY = "busy"  # the user's delivery before this one is still under way
    STALE = "stale"  # waited in a lane past its freshness; decided again

    # from an attempt
    TRANSIENT = "transient"
    THROTTLED = "throttled"
    BREAKER_OPEN = "breaker_open"
    REJECTED = "rejected"
    ENDPOINT_GONE = "endpoint_gone"
    ATTEMPTS_EXHAUSTED = "attempts_exhausted"
    PROVIDER_MISCONFIGURED = "provider_misconfigured"
    BAD_TEMPLATE = "bad_template"
    UNKNOWN = "unknown"
    NO_RECEIPT = "no_receipt"

    # put aside whole: the record ends in `dead-letters`
    UNDECODABLE = "undecodable"
    POISON = "poison"  # our own code raised on it
