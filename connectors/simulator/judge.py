"""Decides by the script what happens to one call."""

import fnmatch
import random
import re

from msgspec import Struct, structs

from connectors.simulator.script import Failure, Latency, Quota, Refuse, Rule, Script
from streams.clock import Clock


class Verdict(Struct, frozen=True, gc=False):
    """How long the answer takes, and what goes wrong (None: nothing).

    `wait_ms` is the rest of the quota's window when the quota is what goes wrong.
    """

    delay_ms: int = 0
    fault: Failure | None = None
    wait_ms: int = 0


_CLEAN = Verdict()


class _Case:
    """A rule with what it has counted."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.enabled = rule.enabled
        self.spent = 0
        self.window = -1
        self.used = 0
        patterns = "|".join(fnmatch.translate(pattern) for pattern in rule.addresses)
        self.matches = re.compile(patterns).match if rule.addresses else None

    def is_on(self, provider: str, scene: str, elapsed_ms: int) -> bool:
        rule = self.rule
        return (
            self.enabled
            and (rule.provider == provider or (rule.provider == "*" and provider != "oauth"))
            and (not rule.scenes or scene in rule.scenes)
            and rule.from_ms <= elapsed_ms
            and (rule.until_ms is None or elapsed_ms < rule.until_ms)
            and (rule.times is None or self.spent < rule.times)
        )


class Judge:
    """Follows one script at a time; the same script, calls and clock give the same verdicts."""

    def __init__(self, script: Script, clock: Clock, dice: random.Random) -> None:
        self._clock = clock
        self._dice = dice
        self.scene = ""
        self.load(script)

    def load(self, script: Script) -> None:
        """Follow this script from now on: its times begin, its counts are zero, its dice are fresh."""
        self._dice.seed(script.seed)
        self._cases = [_Case(rule) for rule in script.rules]
        self._script = script
        self._began_ms = self._clock.now_ms()

    @property
    def script(self) -> Script:
        """The script as it is followed, with rules on or off as control calls left them."""
        rules = (structs.replace(case.rule, enabled=case.enabled) for case in self._cases)
        return structs.replace(self._script, rules=tuple(rules))

    def enable(self, name: str, on: bool) -> bool:
        """Switch the rules of this name; False when there is none."""
        named = [case for case in self._cases if case.rule.name == name]
        for case in named:
            case.enabled = on
        return bool(named)

    def verdict(self, provider: str, address: str) -> Verdict:
        """Return what happens to one call, and count it."""
        if not self._cases:
            return _CLEAN
        elapsed_ms = self._clock.now_ms() - self._began_ms
        delay_ms = 0
        for case in self._cases:
            rule = case.rule
            if not case.is_on(provider, self.scene, elapsed_ms):
                continue
            if case.matches is not None and not case.matches(address):
                continue
            if rule.share < 1.0 and self._dice.random() >= rule.share:
                continue
            case.spent += 1
            match rule.fault:
                case Latency(ms, jitter_ms):
                    delay_ms += ms + (round(self._dice.random() * jitter_ms) if jitter_ms else 0)
                case Quota(limit, window_ms):
                    if _within(case, elapsed_ms // window_ms, limit):
                        continue
                    return Verdict(delay_ms, rule.fault, window_ms - elapsed_ms % window_ms)
                case fault:
                    return Verdict(delay_ms, fault)
        return Verdict(delay_ms) if delay_ms else _CLEAN

    def refuses(self, provider: str) -> bool:
        """Tell whether the provider's port is to be closed now."""
        elapsed_ms = self._clock.now_ms() - self._began_ms
        return any(
            isinstance(case.rule.fault, Refuse) and case.is_on(provider, self.scene, elapsed_ms)
            for case in self._cases
        )

    def next_change_ms(self) -> int | None:
        """Return the wait until a closed or open port may have to change by time alone, if ever."""
        elapsed_ms = self._clock.now_ms() - self._began_ms
        edges = (
            edge - elapsed_ms
            for case in self._cases
            if isinstance(case.rule.fault, Refuse)
            for edge in (case.rule.from_ms, case.rule.until_ms)
            if edge is not None and edge > elapsed_ms
        )
        return min(edges, default=None)


def _within(case: _Case, window: int, limit: int) -> bool:
    """Take one of the window's places, if one is left."""
    if window != case.window:
        case.window, case.used = window, 0
    if case.used >= limit:
        return False
    case.used += 1
    return True
