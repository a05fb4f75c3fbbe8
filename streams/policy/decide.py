"""Decides what becomes of a notification: one decision for each endpoint of each channel.

Pure: no clock, no I/O, no dice. The same request, facts, catalog and instant always give the same
decisions with the same ids, so a replay that decided again would decide alike.
"""

from msgspec import Struct

from streams.catalog import Catalog, NotificationType, QuietHours
from streams.ids import delivery_id
from streams.policy.calendar import next_quiet, quiet_until
from streams.policy.chain import verdict_of
from streams.policy.context import Context
from streams.policy.delivering import delivery_of, redelivery_of
from streams.policy.endpoints import INLINE, Endpoint, endpoint_again, endpoints_of
from streams.policy.facts import UserFacts
from streams.policy.freshness import Freshness
from streams.policy.quiet import device_zone, quiet_hours_of, zone_of
from streams.policy.request import Request
from streams.policy.verdict import Drop, Hold
from streams.reasons import Reason
from streams.records.decision import Decision, Defer, Deliver, Reservation, Suppress, Target
from streams.records.delivery import Delivery
from streams.records.state import Profile

__all__ = ["UserFacts", "decide", "delivery_of", "reconsider", "redelivery_of"]

STEP = 0


def decide(
    request: Request, facts: UserFacts, catalog: Catalog, freshness: Freshness, now_ms: int
) -> tuple[Decision, ...]:
    """Return the decisions about a new event, in the order of the type's channels.

    A channel the producer asks for and the type does not have is suppressed, never added.
    """
    kind = request.type
    notification = request.notification
    tenant = catalog.tenants[request.tenant]
    profile = facts.profile
    locale = notification.locale or (profile.locale if profile is not None else "") or tenant.locale
    send_at = notification.send_at
    case = _Case(
        kind,
        profile,
        facts.reservations.held,
        zone_of(profile, tenant),
        quiet_hours_of(kind, profile),
        request.notification_id,
        locale,
        now_ms,
        now_ms if send_at is None or send_at < now_ms else send_at,
        request.expires_at_ms(now_ms),
        freshness.of(kind.lane),
        None,
    )
    user, wanted = notification.user_id, notification.channels
    decisions: list[Decision] = []
    for channel in kind.channels:
        if wanted is not None and channel not in wanted:
            continue
        address = request.address.get(channel)
        endpoints = endpoints_of(profile, channel) if address is None else (Endpoint(INLINE, address),)
        if endpoints:
            for endpoint in endpoints:
                own = delivery_id(request.tenant, user, request.notification_id, STEP, channel, endpoint.id)
                decisions.append(_decision(case, own, channel, endpoint))
        else:
            own = delivery_id(request.tenant, user, request.notification_id, STEP, channel, "")
            decisions.append(_decision(case, own, channel, None))
    for other in dict.fromkeys(wanted or ()):
        if other not in kind.channels:
            own = delivery_id(request.tenant, user, request.notification_id, STEP, other, "")
            target = Target(own, other, "", "", locale)
            decisions.append(Suppress(target, now_ms, Reason.CHANNEL_UNAVAILABLE, "plan"))
    return tuple(decisions)


def reconsider(
    delivery: Delivery,
    since: Reason,
    facts: UserFacts,
    catalog: Catalog,
    freshness: Freshness,
    now_ms: int,
) -> tuple[Decision, ...]:
    """Return the decisions about a delivery that comes back; `since` is why it went.

    All rules run again, with the user as they are now, but deduplication. Its endpoint is looked
    up again, so a changed number is used. A delivery without one becomes one for each endpoint
    the user has now: the first keeps the id, the others get their own.
    """
    kind = catalog.type(delivery.type)
    if kind is None:
        target = Target(delivery.delivery_id, delivery.channel, delivery.endpoint, "", delivery.locale)
        return (Suppress(target, now_ms, Reason.UNKNOWN_TYPE, "catalog"),)
    profile = facts.profile
    locale = delivery.locale
    if not delivery.endpoint and profile is not None and profile.locale:
        locale = profile.locale  # decided before we knew the user
    case = _Case(
        kind,
        profile,
        facts.reservations.held,
        zone_of(profile, catalog.tenants[delivery.tenant]),
        quiet_hours_of(kind, profile),
        delivery.notification_id,
        locale,
        now_ms,
        now_ms,
        delivery.expires_at_ms,
        freshness.of(kind.lane),
        since,
    )
    channel = delivery.channel
    if delivery.endpoint == INLINE:
        return (_decision(case, delivery.delivery_id, channel, Endpoint(INLINE, delivery.address)),)
    if delivery.endpoint:
        found = endpoint_again(profile, channel, delivery.endpoint)
        return (_decision(case, delivery.delivery_id, channel, found, delivery.endpoint),)
    endpoints = endpoints_of(profile, channel)
    if not endpoints:
        return (_decision(case, delivery.delivery_id, channel, None),)
    first, *others = endpoints
    names = (delivery.tenant, delivery.user_id, delivery.notification_id, delivery.step, channel)
    return (
        _decision(case, delivery.delivery_id, channel, first),
        *[_decision(case, delivery_id(*names, other.id), channel, other) for other in others],
    )


class _Case(Struct, frozen=True, gc=False):
    """What all deliveries of one notification share."""

    kind: NotificationType
    profile: Profile | None
    held: tuple[Reservation, ...]
    zone: str
    hours: QuietHours | None
    notification_id: str
    locale: str
    now_ms: int
    earliest_ms: int
    expires_at_ms: int
    freshness_ms: int
    since: Reason | None


def _decision(case: _Case, own: str, channel: str, endpoint: Endpoint | None, lost: str = "") -> Decision:
    """Run the rules for one delivery; `lost` is the id of an endpoint the user no longer has."""
    now_ms, hours, local, intended_ms = case.now_ms, case.hours, case.zone, case.earliest_ms
    if hours is not None:
        local = device_zone(endpoint, local)
        intended_ms = quiet_until(local, hours.start, hours.end, intended_ms)
    context = Context(
        case.kind,
        case.profile,
        case.held,
        case.notification_id,
        channel,
        endpoint,
        case.zone,
        now_ms,
        case.earliest_ms,
        intended_ms,
        case.expires_at_ms,
        case.since,
    )
    verdict, rule = verdict_of(context)
    endpoint_id, address = (endpoint.id, endpoint.address) if endpoint is not None else (lost, "")
    if isinstance(verdict, Drop):
        target = Target(own, channel, endpoint_id, "", case.locale)
        return Suppress(target, now_ms, verdict.reason, rule)
    target = Target(own, channel, endpoint_id, address, case.locale)
    if isinstance(verdict, Hold):
        holds_ms = 0 if verdict.reason is Reason.AWAITING_PROFILE else case.kind.holds_ms
        return Defer(target, now_ms, verdict.until_ms, verdict.reason, rule, holds_ms)
    send_until_ms = min(case.expires_at_ms, now_ms + case.freshness_ms)
    if hours is not None:
        send_until_ms = min(send_until_ms, next_quiet(local, hours.start, hours.end, now_ms))
    return Deliver(target, now_ms, send_until_ms, case.kind.holds_ms)
