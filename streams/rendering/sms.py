"""A text message: the characters that really go out, and the parts a gateway bills (R-098).

3GPP TS 23.038 and 23.040: the GSM 7-bit alphabet gives 160 septets in one part or 153 in
each of several; any other character turns the whole text to UCS-2, 70 UTF-16 units in one
part or 67 in each of several. An escape pair or a surrogate pair never spans two parts, so
dividing by 153 or 67 counts too few.
"""

import math
import re
import unicodedata
from collections.abc import Iterable

from streams.rendering.message import SmsMessage

_BASIC = (
    "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?"
    "¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"
)
_EXTENSION = "\f^{}\\[~]|€"  # two septets each

_is_gsm = re.compile(f"[{re.escape(_BASIC + _EXTENSION)}]*").fullmatch
_extensions = re.compile(f"[{re.escape(_EXTENSION)}]").findall

# What looks the same in GSM-7. Letters are never replaced: a name keeps its spelling (SMS-07).
_LOOK_ALIKES = str.maketrans(
    {
        **dict.fromkeys("\u00a0\u202f\u2007\u2009\t", " "),
        **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad", ""),
        **dict.fromkeys("\u2018\u2019\u201a\u2032`", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u2033", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"),
        "\u2026": "...",
    }
)


def sms(text: str) -> SmsMessage:
    """Return the message with its number of parts."""
    sent = sendable(text)
    return SmsMessage(sent, segments(sent))


def sendable(text: str) -> str:
    """Return the text as it is sent: in GSM-7 if look-alikes alone make that possible.

    Any other text is left as it is, code point for code point: the joiners that cost money in
    an English text are spelling in a Bengali one (I18-02).
    """
    if _is_gsm(text):
        return text
    replaced = unicodedata.normalize("NFC", text).translate(_LOOK_ALIKES)
    return replaced if _is_gsm(replaced) else text


def segments(text: str) -> int:
    """Return how many parts a gateway sends, and bills, for exactly this text."""
    if _is_gsm(text):
        extensions = len(_extensions(text))
        if len(text) + extensions <= 160:
            return 1
        if not extensions:
            return math.ceil(len(text) / 153)
        return _packed((2 if char in _EXTENSION else 1 for char in text), 153)
    units = len(text.encode("utf-16-be", "surrogatepass")) // 2
    if units <= 70:
        return 1
    if units == len(text):
        return math.ceil(units / 67)
    return _packed((2 if char > "\uffff" else 1 for char in text), 67)


def _packed(widths: Iterable[int], room: int) -> int:
    parts, used = 1, 0
    for width in widths:
        if used + width > room:
            parts, used = parts + 1, 0
        used += width
    return parts
