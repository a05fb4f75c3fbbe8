"""What Twilio's error codes mean: one table from a code to our outcome.

The code in the body decides, not the HTTP status. A code that is not listed falls by its range,
because Twilio adds codes all the time: 20xxx is our account, 21xxx the message, 30xxx delivery.
"""

from collections.abc import Callable

import msgspec
from msgspec import Struct
from phonenumbers import NumberParseException, parse

from connectors.providers.bare_status import NOT_SAID_MS, by_status
from connectors.providers.http import Answer
from connectors.providers.retry_after import retry_after_ms
from streams.outcomes import EndpointGone, Misconfigured, Outcome, Rejected, Throttled, Unavailable, Unknown
from streams.reasons import Reason

# A block against SMS pumping lifts itself after 15 to 30 minutes; daily caps are asked again hourly.
_PUMPING_MS = 1_800_000
_DAILY_CAP_MS = 3_600_000

_Make = Callable[[str, int | None], Outcome]  # (code, wait asked for in ms)


def _rejected(reason: Reason, permanent: bool = True) -> _Make:
    return lambda code, wait: Rejected(reason, code, permanent)


def _throttled(scope: str, default_ms: int = NOT_SAID_MS) -> _Make:
    return lambda code, wait: Throttled(default_ms if wait is None else wait, scope, code)


def _misconfigured(scope: str) -> _Make:
    return lambda code, wait: Misconfigured(scope, code)


def _gone(code: str, wait: int | None) -> Outcome:
    return EndpointGone(code)


def _unavailable(code: str, wait: int | None) -> Outcome:
    return Unavailable(code, wait or 0)


_TABLE: tuple[tuple[_Make, tuple[int, ...]], ...] = (
    (_gone, (21211, 21217, 21401, 21421, 21614, 63003, 63024)),
    # Answered STOP: the number is good, and START opens it again.
    (_rejected(Reason.OPTED_OUT), (21610, 63014, 63033)),
    # Unknown handset, landline, blocked by handset or carrier: may be temporary, so no removal by one.
    (_rejected(Reason.REJECTED), (30004, 30005, 30006)),
    # Not reachable from this sender: another sender or provider can.
    (_rejected(Reason.REJECTED, permanent=False), (21612,)),
    (_rejected(Reason.EXPIRED), (30036,)),
    # Content, size, template.
    (_rejected(Reason.REJECTED), (21602, 21604, 21617, 21619, 21620, 21623, 21624, 90007, 90014)),
    (_rejected(Reason.REJECTED), (21652, 21654, 21655, 21656, 21658, 30007, 30012, 30013, 30019)),
    (_rejected(Reason.REJECTED), (63005, 63013, 63016, 63019, 63021, *range(63026, 63031), 63034)),
    (_rejected(Reason.REJECTED), (63040, 63041, 63042)),
    (_throttled("account"), (20429, 14107)),
    (_throttled("sender"), (21611, 30001, 30022, 63017, 63018)),
    (_throttled("prefix", _PUMPING_MS), (30450,)),
    (_throttled("sender", _DAILY_CAP_MS), (30023, 30027, 63038)),
    (_unavailable, (20500, 20503, 30003, 30008, 30017, 30020, 30021, 30410, 63009, 63010, 63012)),
    (_misconfigured("account"), (10001, 10002, 20003, 20005, 20006, 20008, 20010, 20403, 20404, 30002)),
    (_misconfigured("sender"), (21212, 21601, 21603, 21606, 21607, 21608, 21616, 21657)),
    (_misconfigured("sender"), (*range(21701, 21713), 30018, 30024, *range(30032, 30036), 63001, 63002)),
    (_misconfigured("sender"), (63007, 63008, 63020, 63022, 63051)),
    # The address for receipts is wrong; the message itself is not.
    (_misconfigured("callback"), (21609, 21626)),
)
_BY_CODE: dict[int, _Make] = {code: make for make, codes in _TABLE for code in codes}
_BY_RANGE: dict[int, _Make] = {
    20: _misconfigured("account"),
    21: _rejected(Reason.REJECTED),
    30: _unavailable,
}
_NO_PERMISSION_FOR_COUNTRY = 21408


class _Error(Struct, gc=False):
    code: int


_decode = msgspec.json.Decoder(_Error).decode


def outcome_of(answer: Answer, number: str) -> Outcome:
    """Return the outcome of an answer that is not a success; `number` tells its country."""
    try:
        code = _decode(answer.body).code
    except (msgspec.DecodeError, msgspec.ValidationError):
        return by_status(answer)
    return by_code(code, number, retry_after_ms(answer.headers))


def by_code(code: int, number: str, wait_ms: int | None = None) -> Outcome:
    """Return the outcome that a code of Twilio's stands for."""
    if code == _NO_PERMISSION_FOR_COUNTRY:
        return Misconfigured(f"country:{_calling_code(number)}", str(code))
    make = _BY_CODE.get(code) or _BY_RANGE.get(code // 1000)
    return make(str(code), wait_ms) if make else Unknown(str(code))


def _calling_code(number: str) -> str:
    try:
        return f"+{parse(number).country_code}"
    except NumberParseException:
        return "unknown"
