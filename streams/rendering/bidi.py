"""Direction controls in a value never reorder the text around it (TPL-08)."""

_EMBEDDINGS = "\u202a\u202b\u202d\u202e"  # LRE RLE LRO RLO, closed by PDF
_POP_EMBEDDING = "\u202c"
_ISOLATES = "\u2066\u2067\u2068"  # LRI RLI FSI, closed by PDI
_POP_ISOLATE = "\u2069"
CONTROLS = _EMBEDDINGS + _POP_EMBEDDING + _ISOLATES + _POP_ISOLATE

_CLOSED_BY = dict.fromkeys(_EMBEDDINGS, _POP_EMBEDDING) | dict.fromkeys(_ISOLATES, _POP_ISOLATE)
_REMOVE_CONTROLS = dict.fromkeys(map(ord, CONTROLS))


def without_controls(text: str) -> str:
    """Return the text without any direction control: for SMS, where each character costs."""
    return text.translate(_REMOVE_CONTROLS)


def isolated(text: str) -> str:
    """Return the text in a first-strong isolate, with its unmatched controls removed."""
    return f"\u2068{_balanced(text)}\u2069"


def _balanced(text: str) -> str:
    kept = list(text)
    still_open: list[int] = []
    for at, char in enumerate(text):
        if char in _CLOSED_BY:
            still_open.append(at)
        elif char in (_POP_EMBEDDING, _POP_ISOLATE):
            if still_open and _CLOSED_BY[text[still_open[-1]]] == char:
                still_open.pop()
            else:
                kept[at] = ""
    for at in still_open:
        kept[at] = ""
    return "".join(kept)
