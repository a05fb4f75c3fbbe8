"""The pace through the outage as a small text chart."""

from collections.abc import Sequence

from harkara.demo.pacing_log import Sample

_WIDTH = 40
_ROWS = 16
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def pace_rows(samples: Sequence[Sample], provider: str, outage: tuple[float, float]) -> list[tuple[str, ...]]:
    """Return rows of (second, provider is, breaker, phase, pace a second, bar), evenly spaced in time."""
    own = [sample for sample in samples if sample.status.provider == provider]
    if not own:
        return []
    top = max(sample.status.rate for sample in own) or 1.0
    step_s = max(1.0, (own[-1].at_s - own[0].at_s) / _ROWS)
    rows: list[tuple[str, ...]] = []
    due_s = own[0].at_s
    for sample in own:
        if sample.at_s >= due_s:
            due_s += step_s
            status = sample.status
            is_down = outage[0] <= sample.at_s < outage[1]
            rows.append(
                (
                    f"{sample.at_s - outage[0]:+.0f} s",
                    "down" if is_down else "up",
                    status.breaker.replace("_", " "),
                    status.phase.replace("_", " "),
                    f"{status.rate:,.0f}",
                    bar(status.rate / top, _WIDTH),
                )
            )
    return rows


def bar(share: float, width: int) -> str:
    """Return a bar of `share` (0 to 1) of the width, to an eighth of a character."""
    eighths = round(max(0.0, min(1.0, share)) * width * 8)
    whole, rest = divmod(eighths, 8)
    return "█" * whole + (_EIGHTHS[rest] if rest else "")
