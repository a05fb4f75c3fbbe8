"""Whose quiet hours count, in which zone."""

from streams.catalog import NotificationType, Quiet, QuietHours, Tenant
from streams.policy.calendar import first_known
from streams.policy.endpoints import Endpoint
from streams.records.state import Profile

_IGNORE = Quiet.IGNORE  # looked up once: a member of an enum costs a tenth of a microsecond


def quiet_hours_of(kind: NotificationType, profile: Profile | None) -> QuietHours | None:
    """Return the hours a message of this type must not disturb, None if there are none.

    The user's own come before the category's; equal ends are off (QTZ-07).
    """
    if kind.quiet is _IGNORE:
        return None
    if profile is None or profile.quiet_start < 0:
        return kind.quiet_hours
    if profile.quiet_start == profile.quiet_end:
        return None
    return QuietHours(profile.quiet_start, profile.quiet_end)


def zone_of(profile: Profile | None, tenant: Tenant) -> str:
    """Return the user's zone: their own, else the tenant's, else UTC; an unknown name counts as none."""
    return first_known((profile.zone if profile is not None else "", tenant.zone))


def device_zone(endpoint: Endpoint | None, zone: str) -> str:
    """Return where a device is if it says so, else `zone`."""
    return first_known((endpoint.zone, zone)) if endpoint is not None and endpoint.zone else zone
