"""How the demo turns what it measured into figures."""

from connectors.pacing.status import ProviderStatus
from harkara.demo.chart import bar, pace_rows
from harkara.demo.events import Event
from harkara.demo.logins import measure
from harkara.demo.pacing_log import Sample
from harkara.demo.people import Person
from harkara.demo.percentiles import Percentiles, percentiles
from streams.ids import delivery_id


def test_a_percentile_is_a_value_that_occurred() -> None:
    """By nearest rank; of one value all are the same, of none there is none."""
    assert percentiles(range(1, 101)) == Percentiles(100, 50, 99, 100)
    assert percentiles([7]) == Percentiles(1, 7, 7, 7)
    assert percentiles([]) == Percentiles(0, None, None, None)


def test_a_login_is_timed_from_confirmation_to_call() -> None:
    """Every delivery of a password counts but those to dead phones; one nobody called is missing."""
    person = Person("u-1", "Asia/Dhaka", "bn", ("t-1", "t-2-dead", "t-3"), "+8801712345678", "yes", None)
    event = Event(0, "harkara.ingest.critical", b"u-1", b"{}", user_id="u-1", notification_id="n-1")
    calls = {
        delivery_id("default", "u-1", "n-1", 0, channel, endpoint): at_ms
        for channel, endpoint, at_ms in (("sms", "contact", 1_030), ("push", "phone-1", 1_010))
    }
    found = measure("night", [event], {"u-1": person}, {"n-1": 1_000}, calls)
    assert (found.passwords, found.values, found.missing) == (1, (30, 10), 1)


def test_the_chart_tells_when_the_provider_was_down() -> None:
    """Rows are spaced in time and scaled to the fastest pace."""
    samples = [
        Sample(float(at), ProviderStatus("fcm", "push", "a", "closed", 0, rate=rate))
        for at, rate in ((0, 100.0), (1, 100.0), (2, 50.0), (3, 100.0))
    ]
    rows = pace_rows(samples, "fcm", (1.0, 3.0))
    assert [row[1] for row in rows] == ["up", "down", "down", "up"]
    assert [len(row[-1]) for row in rows] == [40, 40, 20, 40]
    assert pace_rows(samples, "twilio", (1.0, 3.0)) == []


def test_a_bar_is_drawn_to_an_eighth() -> None:
    """And never outside of its width."""
    assert [bar(0.0, 4), bar(0.5, 4), bar(0.53, 4), bar(2.0, 4)] == ["", "██", "██▏", "████"]
