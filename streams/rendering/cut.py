"""Cutting a text to a number of bytes without cutting a letter in two (TPL-09)."""

import unicodedata

_ELLIPSIS = "…"
_ZWJ = "\u200d"
_ELLIPSIS_BYTES = len(_ELLIPSIS.encode())


def cut(text: str, room: int) -> str:
    """Return the longest beginning of the text that fits `room` bytes of UTF-8, with an ellipsis.

    The cut falls before a base character, never inside a cluster of letter and marks, of a
    Bengali conjunct, or of an emoji joined from several. A text that fits is returned whole.
    """
    raw = text.encode()
    if len(raw) <= room:
        return text
    head = raw[: max(0, room - _ELLIPSIS_BYTES)].decode(errors="ignore")
    at = len(head)
    while at > 0 and _joined(text[at - 1], text[at]):
        at -= 1
    return text[:at].rstrip() + _ELLIPSIS


def _joined(before: str, after: str) -> bool:
    """Tell whether two neighbours belong to one cluster."""
    return (
        after == _ZWJ
        or before == _ZWJ
        or unicodedata.category(after).startswith("M")  # marks, vowel signs, variation selectors
        or unicodedata.combining(before) == 9  # virama: the next consonant is written under it
        or "\U0001f3fb" <= after <= "\U0001f3ff"  # skin tones
        or ("\U0001f1e6" <= before <= "\U0001f1ff" and "\U0001f1e6" <= after <= "\U0001f1ff")  # flags
    )
