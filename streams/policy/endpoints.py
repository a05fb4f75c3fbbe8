"""Where a user can be reached on a channel: each device, the contact, or the address an event brought."""

from msgspec import Struct

from streams.records.state import Profile
from streams.topics import Channel

#: The slot of a contact: a user has one address a channel.
CONTACT = "contact"
#: The slot of an address that the event itself brought.
INLINE = "inline"

_PUSH = Channel.PUSH


class Endpoint(Struct, frozen=True, gc=False):
    """One place to send to. `id` names it in delivery ids, `zone` is a device's own or empty."""

    id: str
    address: str
    zone: str = ""
    active: bool = True


def endpoints_of(profile: Profile | None, channel: str) -> tuple[Endpoint, ...]:
    """Return all of a user's endpoints on a channel, usable or not."""
    if profile is None:
        return ()
    if channel == _PUSH:
        return tuple([Endpoint(d.device_id, d.token, d.zone, d.active) for d in profile.devices])
    return tuple(
        [Endpoint(CONTACT, c.address, "", c.active) for c in profile.contacts if c.channel == channel]
    )


def endpoint_again(profile: Profile | None, channel: str, endpoint_id: str) -> Endpoint | None:
    """Return the endpoint as it is now, or None if the user no longer has it."""
    for endpoint in endpoints_of(profile, channel):
        if endpoint.id == endpoint_id:
            return endpoint
    return None
