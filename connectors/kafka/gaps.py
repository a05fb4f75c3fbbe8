"""Refuses to go on over records that are missing, or that come again."""

from collections.abc import Mapping

from connectors.kafka.plan import Tp
from streams.errors import OffsetGap


def check_committed(
    committed: Mapping[Tp, int | None], starts: Mapping[Tp, int], ends: Mapping[Tp, int]
) -> None:
    """Raise OffsetGap, with the way out, where the committed offset is not in the log any more.

    `starts` are the first offsets kept, `ends` the last stable ones.
    """
    for tp, offset in committed.items():
        start, end = starts.get(tp, 0), ends.get(tp)
        if offset is None:
            continue
        if offset < start:
            raise OffsetGap(f"{_expired(tp, offset, start)}; stop this group and reset its offset to {start}")
        if end is not None and offset > end:
            raise OffsetGap(
                f"{_name(tp)}: committed offset {offset} is beyond the log's end {end}: the topic was made "
                f"anew or lost records; stop this group and reset its offset to between {start} and {end}"
            )


def check_next(tp: Tp, expected: int | None, first: int, gapless: bool, start: int | None) -> None:
    """Raise OffsetGap unless `first` may follow what was read up to `expected`.

    `expected` is None before the first block. In a log that others write, offsets are missing where
    a transaction ended or was aborted; not below `start`, its first offset now (None: not asked for).
    """
    if expected is None or first == expected:
        return
    if first < expected:
        raise OffsetGap(f"{_name(tp)}: offset {first} came again, expected {expected}")
    if gapless:
        raise OffsetGap(_missing(tp, expected, first))
    if start is not None and start > expected:
        raise OffsetGap(_expired(tp, expected, start))


def check_passed(tp: Tp, expected: int | None, position: int) -> None:
    """Raise OffsetGap if a reader of a log without gaps stands beyond what came."""
    if expected is not None and position > expected:
        raise OffsetGap(_missing(tp, expected, position))


def _missing(tp: Tp, expected: int, first: int) -> str:
    return f"{_name(tp)}: offsets {expected}..{first - 1} are missing"


def _expired(tp: Tp, offset: int, start: int) -> str:
    return f"{_name(tp)}: offset {offset} is below the log's start {start}: records expired unread"


def _name(tp: Tp) -> str:
    return f"{tp[0]}/{tp[1]}"
