"""What a user switched on and off: by category and channel, with "*" for all of either.

The same reading in the router (preferences) and in senders (stops), so that both stop the same.
"""

from collections.abc import Mapping
from typing import TypeVar

V = TypeVar("V")
Choices = Mapping[tuple[str, str], V]


def deciding(choices: Choices[V], category: str, channel: str) -> tuple[V, ...]:
    """Return the choices that decide about a category on a channel; empty if the user made none.

    One about exactly this pair decides alone. Else those about the whole category and about the
    whole channel decide together: a "no" in either is a "no". Else the one about everything.
    """
    exact = choices.get((category, channel))
    if exact is not None:
        return (exact,)
    of_category, of_channel = choices.get((category, "*")), choices.get(("*", channel))
    if of_category is not None:
        return (of_category,) if of_channel is None else (of_category, of_channel)
    if of_channel is not None:
        return (of_channel,)
    everything = choices.get(("*", "*"))
    return () if everything is None else (everything,)


def with_choice(choices: Choices[V], category: str, channel: str, value: V) -> dict[tuple[str, str], V]:
    """Return the choices with a new one, which replaces all that it covers.

    So "stop everything" also stops what was switched on by itself before.
    """
    kept = {
        key: kept_value
        for key, kept_value in choices.items()
        if not (category in ("*", key[0]) and channel in ("*", key[1]))
    }
    return kept | {(category, channel): value}
