import pytest

from connectors.providers.twilio_errors import by_code, outcome_of
from streams.outcomes import EndpointGone, Misconfigured, Outcome, Rejected, Throttled, Unavailable, Unknown
from streams.reasons import Reason
from tests.connectors.providers.answers import answer

NUMBER = "+8801712345678"


def permanent(code: int, reason: Reason = Reason.REJECTED) -> Outcome:
    """Return the end of a message."""
    return Rejected(reason, str(code))


TABLE: list[tuple[int, Outcome]] = [
    *((code, EndpointGone(str(code))) for code in (21211, 21217, 21401, 21421, 21614, 63003, 63024)),
    *((code, permanent(code, Reason.OPTED_OUT)) for code in (21610, 63014, 63033)),
    *((code, permanent(code)) for code in (30004, 30005, 30006, 30007, 21602, 21604, 21617, 21619, 21620)),
    *((code, permanent(code)) for code in (21623, 21624, 90007, 90014, 21652, 21654, 21656, 21658)),
    *((code, permanent(code)) for code in (30012, 30013, 30019, 63005, 63013, 63026, 63030, 63042)),
    (21612, Rejected(Reason.REJECTED, "21612", permanent=False)),
    (30036, permanent(30036, Reason.EXPIRED)),
    *((code, Throttled(0, "account", str(code))) for code in (20429, 14107)),
    *((code, Throttled(0, "sender", str(code))) for code in (21611, 30001, 30022, 63017, 63018)),
    (30450, Throttled(1_800_000, "prefix", "30450")),
    *((code, Throttled(3_600_000, "sender", str(code))) for code in (30023, 30027, 63038)),
    *((code, Unavailable(str(code))) for code in (20500, 20503, 30003, 30008, 30017, 30020, 30021, 30410)),
    *((code, Misconfigured("account", str(code))) for code in (10001, 10002, 20003, 20005, 20404, 30002)),
    *((code, Misconfigured("sender", str(code))) for code in (21212, 21603, 21606, 21608, 21701, 21712)),
    *((code, Misconfigured("sender", str(code))) for code in (30018, 30032, 30035, 63001, 63051)),
    (21408, Misconfigured("country:+880", "21408")),
    *((code, Misconfigured("callback", str(code))) for code in (21609, 21626)),
    # Not listed: by range.
    (20999, Misconfigured("account", "20999")),
    (21999, permanent(21999)),
    (30999, Unavailable("30999")),
    (63999, Unknown("63999")),
    (1, Unknown("1")),
    (0, Unknown("0")),
]


@pytest.mark.parametrize("code, outcome", TABLE)
def test_each_row_of_the_table(code: int, outcome: Outcome) -> None:
    """The code in the body decides, whatever the status."""
    body = {"code": code, "message": "m", "more_info": "", "status": 400}
    assert outcome_of(answer(400, body), NUMBER) == outcome


def test_a_wait_that_is_asked_for_is_kept() -> None:
    """Retry-After beats our own minute (R-182)."""
    assert outcome_of(answer(429, {"code": 20429}, Retry_After="2"), NUMBER) == Throttled(
        2_000, "account", "20429"
    )


def test_a_country_is_told_even_of_a_number_that_is_none() -> None:
    """A scope that pauses sending is never broken by the address it comes from."""
    assert by_code(21408, "12ab") == Misconfigured("country:unknown", "21408")


@pytest.mark.parametrize(
    "status, outcome",
    [
        (401, Misconfigured("account", "HTTP_401")),
        (404, Misconfigured("account", "HTTP_404")),
        (429, Throttled(0, "account", "HTTP_429")),
        (400, Rejected(Reason.REJECTED, "HTTP_400")),
        (413, Rejected(Reason.REJECTED, "HTTP_413")),
        (408, Unknown("HTTP_408")),
        (500, Unknown("HTTP_500")),
        (503, Unknown("HTTP_503")),
    ],
)
def test_without_a_code_the_status_decides(status: int, outcome: Outcome) -> None:
    """A text costs money, so a 5xx without Twilio's words is never taken for a refusal."""
    assert outcome_of(answer(status, b"<html>"), NUMBER) == outcome


def test_a_503_that_names_a_time_is_a_refusal() -> None:
    """Who says when to come back has not passed the message on."""
    assert outcome_of(answer(503, b"", Retry_After="9"), NUMBER) == Unavailable("HTTP_503", 9_000)
