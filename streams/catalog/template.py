"""A text: one version of one template, in one language, for one channel."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Template:
    """Liquid sources; `title` is empty where the channel shows none."""

    name: str
    version: int
    locale: str
    channel: str
    title: str
    body: str
