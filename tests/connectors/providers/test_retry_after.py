import pytest

from connectors.providers.retry_after import retry_after_ms
from tests.connectors.providers.answers import answer

DATE = "Tue, 01 Dec 2026 04:00:00 GMT"


@pytest.mark.parametrize(
    "asked, wait_ms",
    [
        ("0", 0),
        ("7", 7_000),
        (" 120 ", 120_000),
        ("Tue, 01 Dec 2026 04:00:30 GMT", 30_000),
        ("Tue, 01 Dec 2026 03:59:00 GMT", 0),
        ("99999999999999999999", 86_400_000),
        ("Fri, 01 Jan 2100 00:00:00 GMT", 86_400_000),
        ("-5", None),
        ("1.5", None),
        ("soon", None),
        ("٣", None),
        ("", None),
    ],
)
def test_seconds_and_dates_are_waits(asked: str, wait_ms: int | None) -> None:
    """A date counts from the answer's own; nonsense is no wait, and none is longer than a day."""
    assert retry_after_ms(answer(429, b"", Retry_After=asked, Date=DATE).headers) == wait_ms


def test_a_date_without_the_answers_own_is_no_wait() -> None:
    """Our clock may differ from the provider's, so it is not asked."""
    assert retry_after_ms(answer(429, b"", Retry_After=DATE).headers) is None
