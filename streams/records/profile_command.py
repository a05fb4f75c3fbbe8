"""Commands that change what we know of a user (public topic `profiles`, key user_id)."""

from msgspec import Struct


class _Command(Struct, frozen=True, gc=False, tag_field="command", omit_defaults=True, kw_only=True):
    user_id: str
    at: int  # milliseconds; when the user did it
    source: str = ""  # app setting, unsubscribe link, SMS keyword, …


class SetPreference(_Command, tag="set_preference", frozen=True, kw_only=True):
    """Switch a category on a channel on or off; "*" stands for all of either."""

    category: str = "*"
    channel: str = "*"
    allowed: bool


class SetQuietHours(_Command, tag="set_quiet_hours", frozen=True, kw_only=True):
    """Local times "HH:MM", half-open; both empty switches them off, equal ones are refused."""

    start: str = ""
    end: str = ""


class SetZone(_Command, tag="set_zone", frozen=True, kw_only=True):
    """IANA time zone of the user."""

    zone: str


class SetLocale(_Command, tag="set_locale", frozen=True, kw_only=True):
    """Language the user reads, as a BCP 47 tag."""

    locale: str


class SetContact(_Command, tag="set_contact", frozen=True, kw_only=True):
    """The user's address on a channel; an empty address removes it."""

    channel: str
    address: str
    verified: bool = False


class RegisterDevice(_Command, tag="register_device", frozen=True, kw_only=True):
    """A push token, at app start, login or refresh (R-143)."""

    device_id: str
    token: str
    platform: str = "android"
    zone: str = ""


class RemoveDevice(_Command, tag="remove_device", frozen=True, kw_only=True):
    """A device that must not be reached any more, named by its id or its token."""

    device_id: str = ""
    token: str = ""


class Consent(_Command, tag="consent", frozen=True, kw_only=True):
    """Consent to a category given or withdrawn, with its evidence."""

    category: str
    given: bool
    evidence: str = ""


class Block(_Command, tag="block", frozen=True, kw_only=True):
    """No message of any kind but mandatory ones; `blocked` false lifts it."""

    blocked: bool = True


class Erase(_Command, tag="erase", frozen=True, kw_only=True):
    """Forget the user: addresses, devices, preferences; nothing is sent any more."""


ProfileCommand = (
    SetPreference
    | SetQuietHours
    | SetZone
    | SetLocale
    | SetContact
    | RegisterDevice
    | RemoveDevice
    | Consent
    | Block
    | Erase
)
