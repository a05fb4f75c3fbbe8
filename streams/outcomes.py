"""What a provider can answer. A "no" is a value; callers match all cases.

Source of the classes: the phase rule and the error tables of each provider (see the
adapter's own module). Whatever may have reached the phone without an answer is `Unknown`.
"""

from msgspec import Struct

from streams.reasons import Reason


class Accepted(Struct, frozen=True, gc=False, tag="accepted"):
    """The provider took it and gave an id; receipts may follow."""

    provider_message_id: str
    segments: int = 0
    cost_micros: int = 0
    currency: str = "USD"


class Rejected(Struct, frozen=True, gc=False, tag="rejected"):
    """A clear refusal of this message. `permanent`: no other attempt can succeed."""

    reason: Reason
    code: str
    permanent: bool = True


class EndpointGone(Struct, frozen=True, gc=False, tag="endpoint_gone"):
    """This address can never receive; `since_ms` is the provider's own instant, if it gave one."""

    code: str
    since_ms: int | None = None


class Throttled(Struct, frozen=True, gc=False, tag="throttled"):
    """Refused for rate, certainly not processed. `scope` names the quota, such as account or device."""

    after_ms: int
    scope: str
    code: str


class Unavailable(Struct, frozen=True, gc=False, tag="unavailable"):
    """Failed or refused for a passing cause, certainly not processed."""

    code: str
    after_ms: int = 0


class Misconfigured(Struct, frozen=True, gc=False, tag="misconfigured"):
    """Our credentials, account or sender is broken: pause `scope`, never burn attempts (R-181)."""

    scope: str
    code: str


class Unknown(Struct, frozen=True, gc=False, tag="unknown"):
    """The request left and no verdict came: it may or may not have been processed (R-197)."""

    code: str


Outcome = Accepted | Rejected | EndpointGone | Throttled | Unavailable | Misconfigured | Unknown
