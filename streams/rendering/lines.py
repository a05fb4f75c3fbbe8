"""Line breaks in a rendered text: none in a title, one kind in a body (TPL-01)."""

import re

# CR, LF, VT, FF, NEL, line and paragraph separator.
_BREAKS = re.compile("[\r\n\x0b\x0c\x85\u2028\u2029]+")
_FOREIGN_BREAK = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")


def one_line(text: str) -> str:
    """Return the text without edges, every run of line breaks as one space."""
    return _BREAKS.sub(" ", text.strip())


def plain_lines(text: str) -> str:
    """Return the text without edges, every line break as one LF."""
    return _FOREIGN_BREAK.sub("\n", text.strip())
