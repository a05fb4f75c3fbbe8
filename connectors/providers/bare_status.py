"""The outcome of an answer whose body says nothing that we know: a proxy's page, cut or empty."""

from connectors.providers.http import Answer
from connectors.providers.retry_after import retry_after_ms
from streams.outcomes import Misconfigured, Outcome, Rejected, Throttled, Unavailable, Unknown
from streams.reasons import Reason

#: A provider that throttles and does not say for how long: the pace is cut, nothing is paused (RAT-03).
NOT_SAID_MS = 0


def by_status(answer: Answer) -> Outcome:
    """Return what HTTP itself lets us conclude; success is never concluded (FAI-06).

    A 5xx without the provider's own words may come from a gateway that had already passed the
    request on; only a 503 that names a time to come back is a refusal.
    """
    code = f"HTTP_{answer.status}"
    match answer.status:
        case 401 | 403 | 404 | 405 | 407:
            return Misconfigured("account", code)
        case 429:
            wait = retry_after_ms(answer.headers)
            return Throttled(NOT_SAID_MS if wait is None else wait, "account", code)
        case 503 if (wait := retry_after_ms(answer.headers)) is not None:
            return Unavailable(code, wait)
        case 408:
            return Unknown(code)
        case status if 400 <= status < 500:
            return Rejected(Reason.REJECTED, code)
        case _:
            return Unknown(code)
