"""What is told about an event before it is sent."""

import pytest

from harkara.catalogs import catalog_of
from harkara.client.fitness import lane_of, unfit
from harkara.settings import Settings
from streams.records.notification import Notification
from streams.topics import Lane

CATALOG = catalog_of(Settings())


def _notification(type_name: str, **data: object) -> Notification:
    return Notification(user_id="u-1", type=type_name, data=data, notification_id="n-1")


def test_a_fit_event_passes() -> None:
    """Nothing is said about an event that the router will admit; its lane is the type's."""
    assert unfit(_notification("otp", code="4711"), CATALOG) is None
    assert lane_of(_notification("otp"), CATALOG) is Lane.CRITICAL


@pytest.mark.parametrize(
    "notification, told",
    [
        (_notification("oto", code="4711"), "no type 'oto' in the catalog; did you mean otp?"),
        (_notification("otp"), "missing_parameter at /data/code"),
        (_notification("otp", code="abc"), "invalid_field at /data/code"),
    ],
)
def test_an_unfit_event_is_told_with_its_place(notification: Notification, told: str) -> None:
    """The router's own reason and pointer, and the nearest type's name."""
    assert told in (unfit(notification, CATALOG) or "")
