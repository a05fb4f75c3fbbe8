"""What a template that cannot become a message says about itself."""

from msgspec import Struct


class BadTemplate(Struct, frozen=True, gc=False):
    """No message can be made, and no later attempt will change that.

    `detail` names the template, the place and the missing parameter; it never holds a value
    of the event, so it may be logged and shown.
    """

    detail: str
