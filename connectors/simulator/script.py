"""The fault script: what goes wrong at which provider, when and for whom, as data.

```yaml
seed: 7
rules:
  - name: slow
    provider: fcm
    fault: {kind: latency, ms: 40, jitter_ms: 20}
  - name: quota
    provider: twilio
    fault: {kind: quota, limit: 200, window_ms: 1000}
  - name: outage
    provider: fcm
    scenes: [outage]
    fault: {kind: answer, code: UNAVAILABLE, retry_after: 1}
  - name: dead
    provider: fcm
    addresses: ["*-dead"]
    fault: {kind: answer, code: UNREGISTERED}
```

Delays of all matching rules add up; of the other faults the first that matches decides.
"""

from pathlib import Path

import msgspec
from msgspec import Struct

from streams.errors import SettingError


class _Fault(Struct, frozen=True, gc=False, tag_field="kind", forbid_unknown_fields=True, omit_defaults=True):
    pass


class Latency(_Fault, tag="latency", frozen=True):
    """Answer later, by `ms` and up to `jitter_ms` more."""

    ms: int
    jitter_ms: int = 0


class Quota(_Fault, tag="quota", frozen=True):
    """Refuse with 429 what exceeds `limit` in a window of `window_ms`.

    Windows are fixed and begin with the script. `Retry-After` names the window's end in whole
    seconds, rounded up.
    """

    limit: int
    window_ms: int = 1_000


class Refusal(_Fault, tag="answer", frozen=True):
    """Answer with an error of the provider's own, by its code ("UNREGISTERED", "21610").

    `status` and `body` replace what the code stands for, to answer what no provider should.
    `accepted`: the message goes out all the same, so that the answer lies.
    """

    code: str = ""
    status: int = 0
    body: str | None = None
    retry_after: str | int | None = None  # seconds or an HTTP date
    accepted: bool = False


class Reset(_Fault, tag="reset", frozen=True):
    """Break the connection instead of an answer; `accepted`: only after the message went out."""

    accepted: bool = False


class Hang(_Fault, tag="hang", frozen=True):
    """Say nothing for `ms`, then break the connection; `accepted`: the message went out."""

    ms: int = 600_000
    accepted: bool = False


class Refuse(_Fault, tag="refuse", frozen=True):
    """Close the provider's own port: connections are refused, open ones break."""


Failure = Quota | Refusal | Reset | Hang | Refuse
Fault = Latency | Failure


class Rule(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One fault and when it applies; every condition must hold."""

    name: str
    fault: Fault
    provider: str = "*"  # "fcm" or "twilio", "*" both; "oauth" is where FCM's tokens come from
    enabled: bool = True  # switched by a control call
    scenes: tuple[str, ...] = ()  # (): in every scene
    from_ms: int = 0  # since the script was loaded
    until_ms: int | None = None
    addresses: tuple[str, ...] = ()  # shell patterns; (): all
    share: float = 1.0  # of the calls that match, by seeded dice
    times: int | None = None  # so many calls, then never again


class Script(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """All rules, in order."""

    rules: tuple[Rule, ...] = ()
    seed: int = 0
    token_seconds: int = 3_599  # how long an access token lives


def read_script(path: Path) -> Script:
    """Return the script in a YAML or JSON file; raises SettingError that says what is wrong in it."""
    try:
        return msgspec.yaml.decode(path.read_bytes(), type=Script)
    except (OSError, msgspec.MsgspecError) as error:
        raise SettingError("script", f"{path.name} cannot be used: {error}") from None
