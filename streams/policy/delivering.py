"""A decision becomes the record that a sender works on; the text's version is pinned here (R-059)."""

from msgspec.structs import replace

from streams.policy.request import Request
from streams.records.decision import Decision, Deliver, Suppress
from streams.records.delivery import Delivery


def delivery_of(request: Request, decision: Decision, admitted_ms: int) -> Delivery:
    """Return the delivery that a decision about a new event means.

    `admitted_ms` is the instant of the admission; it becomes the delivery's cohort for good. A
    decision recalled from state gives the same delivery again.
    """
    notification, kind, target = request.notification, request.type, decision.target
    expires_at_ms = request.expires_at_ms(admitted_ms)
    return Delivery(
        delivery_id=target.delivery_id,
        notification_id=request.notification_id,
        tenant=request.tenant,
        user_id=notification.user_id,
        type=kind.name,
        category=kind.category,
        lane=kind.lane,
        channel=target.channel,
        endpoint=target.endpoint,
        address=target.address,
        template=kind.template,
        version=kind.version,
        locale=target.locale,
        data=notification.data,
        cohort_at_ms=admitted_ms,
        decided_at_ms=decision.decided_at_ms,
        send_until_ms=decision.send_until_ms if isinstance(decision, Deliver) else expires_at_ms,
        expires_at_ms=expires_at_ms,
        mandatory=kind.mandatory,
        reserves=not isinstance(decision, Suppress) and decision.reserves,
        purpose=kind.purpose,
        campaign_id=notification.campaign_id,
        src_topic=request.source.topic,
        src_partition=request.src_partition,
        src_offset=request.src_offset,
        trace=notification.trace,
    )


def redelivery_of(delivery: Delivery, decision: Decision) -> Delivery:
    """Return a delivery as a later decision sends it: its endpoint, language, instant and deadline."""
    target = decision.target
    return replace(
        delivery,
        delivery_id=target.delivery_id,
        endpoint=target.endpoint,
        address=target.address,
        locale=target.locale,
        decided_at_ms=decision.decided_at_ms,
        send_until_ms=decision.send_until_ms if isinstance(decision, Deliver) else delivery.expires_at_ms,
        reserves=not isinstance(decision, Suppress) and decision.reserves,
    )
