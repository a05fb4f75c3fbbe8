import random

import msgspec
import pytest

from connectors.simulator.judge import Judge, Verdict
from connectors.simulator.script import (
    Fault,
    Latency,
    Quota,
    Refusal,
    Refuse,
    Reset,
    Rule,
    Script,
    read_script,
)
from streams.clock import FixedClock

RESET = Reset()


def judge_of(*rules: Rule, seed: int = 0, clock: FixedClock | None = None) -> Judge:
    """Return a judge that follows these rules from now on."""
    return Judge(Script(rules, seed), clock or FixedClock(1_796_000_000_123), random.Random())


def rule(fault: Fault = RESET, **conditions: object) -> Rule:
    """Return a rule from its conditions, checked as a file's would be."""
    named = {"name": "r", "fault": msgspec.to_builtins(fault)} | conditions
    return msgspec.convert(named, Rule)


def test_without_rules_every_call_is_answered_at_once() -> None:
    """The simulator is perfect until a script says otherwise."""
    assert judge_of().verdict("fcm", "token-1") == Verdict()


def test_a_quota_lets_through_exactly_its_limit_in_each_window() -> None:
    """Windows begin with the script; the wait is what is left of the present one."""
    clock = FixedClock(1_796_000_000_123)
    judge = judge_of(rule(Quota(limit=3, window_ms=1_000)), clock=clock)
    passed: list[int] = []
    for _ in range(20):
        passed.append(sum(judge.verdict("fcm", "t").fault is None for _ in range(2)))
        clock.advance(250)
    assert passed == [2, 1, 0, 0] * 5


def test_a_quota_names_the_rest_of_its_window() -> None:
    """At the last millisecond one millisecond is left, and then the window is new."""
    clock = FixedClock(5)
    judge = judge_of(rule(Quota(limit=0, window_ms=60_000)), clock=clock)
    waits = []
    for ms in (0, 59_999, 1):
        clock.advance(ms)
        waits.append(judge.verdict("fcm", "t").wait_ms)
    assert waits == [60_000, 1, 60_000]


def test_each_provider_has_its_own_quota_when_each_has_its_own_rule() -> None:
    """A rule for one provider never touches another."""
    judge = judge_of(rule(Quota(limit=0), provider="twilio"))
    assert judge.verdict("fcm", "t").fault is None
    assert judge.verdict("twilio", "+1").fault == Quota(limit=0)


def test_delays_add_up_and_the_first_failure_decides() -> None:
    """Rules are read in order; what comes after a failure does not count."""
    judge = judge_of(
        rule(Latency(40)), rule(Latency(2)), rule(Refusal("A")), rule(Refusal("B")), rule(Latency(9))
    )
    assert judge.verdict("fcm", "t") == Verdict(42, Refusal("A"))


@pytest.mark.parametrize("elapsed_ms, on", [(0, False), (99, False), (100, True), (199, True), (200, False)])
def test_a_rule_may_have_its_time(elapsed_ms: int, on: bool) -> None:
    """From its beginning on, and not at its end."""
    clock = FixedClock(7)
    judge = judge_of(rule(from_ms=100, until_ms=200), clock=clock)
    clock.advance(elapsed_ms)
    assert (judge.verdict("fcm", "t").fault is not None) == on


def test_a_rule_may_wait_for_a_scene() -> None:
    """Scenes are begun by a control call."""
    judge = judge_of(rule(scenes=["outage", "storm"]))
    assert judge.verdict("fcm", "t").fault is None
    judge.scene = "storm"
    assert judge.verdict("fcm", "t").fault == RESET


def test_a_rule_may_be_switched() -> None:
    """By its name; a name that no rule has is told."""
    judge = judge_of(rule(enabled=False))
    assert judge.verdict("fcm", "t").fault is None
    assert judge.enable("r", True)
    assert judge.verdict("fcm", "t").fault == RESET
    assert judge.script.rules[0].enabled
    assert not judge.enable("other", True)


@pytest.mark.parametrize(
    "address, hit", [("u1-dead", True), ("dead-u1", True), ("u1", False), ("xdead", False)]
)
def test_a_rule_may_be_for_some_addresses(address: str, hit: bool) -> None:
    """By shell patterns, of which one must fit whole."""
    judge = judge_of(rule(addresses=["*-dead", "dead-*"]))
    assert (judge.verdict("fcm", address).fault is not None) == hit


def test_a_rule_may_be_for_some_calls() -> None:
    """So many, and then never again."""
    judge = judge_of(rule(times=2))
    assert [judge.verdict("fcm", "t").fault for _ in range(3)] == [RESET, RESET, None]


def test_a_share_is_drawn_by_dice_that_a_seed_repeats() -> None:
    """The same script and calls meet the same faults; another seed others."""

    def drawn(seed: int) -> list[Verdict]:
        judge = judge_of(rule(share=0.3), rule(Latency(10, 50)), seed=seed)
        return [judge.verdict("fcm", "t") for _ in range(500)]

    assert drawn(1) == drawn(1) != drawn(2)
    assert 100 < sum(verdict.fault is not None for verdict in drawn(1)) < 200
    assert {10 <= verdict.delay_ms <= 60 for verdict in drawn(1) if verdict.fault is None} == {True}


def test_a_new_script_begins_with_nothing_counted() -> None:
    """Loading the same script again is a fresh start."""
    judge = judge_of(rule(times=1))
    judge.verdict("fcm", "t")
    judge.load(judge.script)
    assert judge.verdict("fcm", "t").fault == RESET


def test_a_ports_time_is_known_before_it_comes() -> None:
    """Who closes ports sleeps until the next change."""
    clock = FixedClock(0)
    judge = judge_of(rule(Refuse(), provider="fcm", from_ms=100, until_ms=300), clock=clock)
    seen = []
    for ms in (0, 100, 200):
        clock.advance(ms)
        seen.append((judge.refuses("fcm"), judge.refuses("twilio"), judge.next_change_ms()))
    assert seen == [(False, False, 100), (True, False, 200), (False, False, None)]


def test_a_script_is_read_from_yaml(tmp_path: object) -> None:
    """The file of the documentation is a script."""
    from pathlib import Path

    import connectors.simulator.script as documented

    example = (documented.__doc__ or "").split("```")[1].removeprefix("yaml\n")
    path = Path(str(tmp_path)) / "script.yaml"
    path.write_text(example)
    script = read_script(path)
    assert [rule.name for rule in script.rules] == ["slow", "quota", "outage", "dead"]
    assert script.rules[1].fault == Quota(200, 1_000)
