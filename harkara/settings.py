"""Every setting of harkara, each with its unit, default and meaning; the only reader of the environment.

A setting `name` is the variable `HARKARA_NAME`. Those that may hold a secret can also be
given as a file, `HARKARA_NAME_FILE`. An empty variable counts as not given. A wrong value or an
unknown name stops the process at its start with a `SettingError` that says how to mend it.
"""

import difflib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar, cast

from harkara.secret import Secret
from harkara.setting_kinds import (
    Kind,
    brokers,
    choice,
    directory,
    flag,
    number,
    secret,
    secret_json,
    text,
    url,
)
from streams.errors import SettingError

T = TypeVar("T")

PREFIX = "HARKARA_"
DAY_MS = 86_400_000
# Kafka's own bounds for a group's session.
_session = number("ms", 6_000, 1_800_000)
# Kubernetes gives every container such variables for a service named harkara or harkara-…
_SERVICE_LINK = re.compile(
    r"HARKARA_(\w+_)?(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_(TCP|UDP)(_(PROTO|PORT|ADDR))?)?)"
)


def setting(default: T, kind: Kind[Any], doc: str) -> T:
    """Declare a setting; `doc` is one line that a person reads in `harkara config show`."""
    hidden = kind.may_be_file  # may hold a secret
    return field(default=default, repr=not hidden, metadata={"kind": kind, "doc": doc})


@dataclass(frozen=True, kw_only=True)
class Settings:
    """All settings of one process; `Settings()` is the embedded default."""

    folder: Path = setting(Path(".harkara"), directory(), "data of the embedded stack and of local state")
    cache: Path | None = setting(None, directory(), "downloads of all stacks; none: this user's cache folder")
    log_level: str = setting("warning", choice("debug", "info", "warning", "error"), "least level logged")
    log_format: str = setting(
        "auto", choice("auto", "console", "json"), "auto: console at a terminal, else JSON"
    )

    kafka: str | None = setting(None, brokers(), "Kafka; none: the embedded one")
    redis: str | None = setting(None, url("redis", "rediss"), "Valkey or Redis; none: the embedded one")
    clickhouse: str | None = setting(None, url("http", "https"), "ClickHouse's HTTP; none: the embedded one")

    catalog: Path | None = setting(
        None, directory(), "types and templates; none: those that came with harkara"
    )
    partitions: int = setting(4, number("partitions", 1, 4_096), "of every topic keyed by user; 96 is usual")
    replication: int = setting(1, number("replicas", 1, 9), "of every topic; 3 in production")

    instance: str | None = setting(
        None,
        text("text", r"[A-Za-z0-9._-]{1,100}", "use letters, digits, dot, dash, underscore; at most 100"),
        "this process among those of its role: names its state and makes it a static member",
    )
    status_port: int = setting(
        0, number("port", 0, 65_535), "loopback port of /healthz, /readyz, /metrics; 0: any"
    )
    router_session_ms: int = setting(30_000, _session, "silence after which a router loses its partitions")
    tracker_session_ms: int = setting(30_000, _session, "the same for a tracker")
    sink_session_ms: int = setting(30_000, _session, "the same for a sink")
    critical_sender_session_ms: int = setting(6_000, _session, "the same for a sender of the critical lane")
    sender_session_ms: int = setting(10_000, _session, "the same for every other sender")
    commit_interval_ms: int = setting(1_000, number("ms", 100, 60_000), "between commits of offsets")
    block_records: int = setting(500, number("records", 1, 10_000), "most records decided in one go")
    sender_inflight: int = setting(256, number("calls", 1, 10_000), "most provider calls at once, a sender")
    freshness_bulk_ms: int = setting(
        600_000, number("ms", 1_000, DAY_MS), "age at which a queued bulk delivery is decided again"
    )
    freshness_other_ms: int = setting(60_000, number("ms", 1_000, DAY_MS), "the same for the other lanes")
    clock_follow: bool = setting(False, flag(), "follow the clock record on controls; for demos only")
    hash_key: Secret | None = setting(
        None, secret("key", least=32), "hashes user ids for analytics; none: made once in the data folder"
    )
    callback_url: str | None = setting(
        None, url("https", "http"), "where providers report to; without a query"
    )
    callback_secret: Secret | None = setting(
        None, secret("key", least=32), "signs callback addresses; none: made once in the data folder"
    )

    fcm_url: str = setting("https://fcm.googleapis.com", url("https", "http"), "push: where FCM v1 answers")
    fcm_project_id: str | None = setting(
        None,
        text("text", r"[a-z][a-z0-9-]{4,29}", "give the Firebase project's id"),
        "push: Firebase project",
    )
    fcm_service_account: Secret | None = setting(
        None,
        secret_json("a service account key", "client_email", "private_key", "token_uri"),
        "push: the service account that signs",
    )
    fcm_rate: int | None = setting(
        None, number("calls/s", 1, 1_000_000), "push: pace to begin with; none: find it slowly"
    )
    twilio_url: str = setting("https://api.twilio.com", url("https", "http"), "SMS: where Twilio answers")
    twilio_account_sid: str | None = setting(
        None, text("text", r"AC[0-9a-f]{32}", "give the account's SID: AC and 32 hex digits"), "SMS: account"
    )
    twilio_auth_token: Secret | None = setting(None, secret(), "SMS: the account's token; or give an API key")
    twilio_api_key: str | None = setting(
        None,
        text("text", r"SK[0-9a-f]{32}", "give the key's SID: SK and 32 hex digits"),
        "SMS: API key's SID",
    )
    twilio_api_secret: Secret | None = setting(None, secret(), "SMS: the API key's secret")
    twilio_from: str | None = setting(
        None,
        text(
            "address",
            r"\+[1-9]\d{6,14}|MG[0-9a-f]{32}|[A-Za-z0-9 ]{1,11}",
            "give a number like +8801…, a sender name, or a messaging service's SID",
        ),
        "SMS: the number, name or messaging service it comes from",
    )

    twilio_rate: int | None = setting(
        None, number("calls/s", 1, 1_000_000), "SMS: pace to begin with; none: find it slowly"
    )

    #: Where each value that is not the default came from.
    sources: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def from_environ(cls, environ: Mapping[str, str] = os.environ, folder: Path | None = None) -> "Settings":
        """Read the settings; `folder`, if given, beats the environment's.

        Raises the first of `problems` as a `SettingError`.
        """
        values, sources, problems = _read(environ)
        if problems:
            raise problems[0]
        if folder is not None:
            values["folder"], sources["folder"] = folder, "command line"
        return cls(**values, sources=sources)

    def child_environ(self, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
        """The environment for another process that shall read these same settings."""
        default = Settings()
        ours = {
            variable(spec.name): _written(value)
            for spec in DECLARED
            if (value := getattr(self, spec.name)) is not None and value != getattr(default, spec.name)
        }
        others = {name: value for name, value in environ.items() if not name.startswith(PREFIX)}
        return others | ours


DECLARED = tuple(spec for spec in fields(Settings) if "kind" in spec.metadata)


def heartbeat_ms(session_ms: int) -> int:
    """A member says it lives six times in a session."""
    return session_ms // 6


def variable(name: str) -> str:
    """The environment variable of a setting."""
    return PREFIX + name.upper()


def problems(environ: Mapping[str, str] = os.environ) -> list[SettingError]:
    """Everything that is wrong with the settings in `environ`, each with its mend."""
    return _read(environ)[2]


def _read(environ: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, str], list[SettingError]]:
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}
    wrong: list[SettingError] = []
    for spec in DECLARED:
        kind = cast("Kind[Any]", spec.metadata["kind"])
        name, file_name = variable(spec.name), variable(spec.name) + "_FILE"
        given, file = environ.get(name), environ.get(file_name) if kind.may_be_file else None
        try:
            if given and file:
                raise ValueError(f"is given twice; unset it or {file_name}")
            raw = _file_text(file) if file else given
            if raw:
                values[spec.name] = kind.read(raw)
                sources[spec.name] = "file" if file else "environment"
        except ValueError as error:
            wrong.append(SettingError(name, str(error)))
    return values, sources, wrong + _unknown(environ) + _together(values)


def _file_text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"its file {path} cannot be read: {type(error).__name__}") from None


def _unknown(environ: Mapping[str, str]) -> list[SettingError]:
    known = [variable(spec.name) for spec in DECLARED]
    known += [variable(spec.name) + "_FILE" for spec in DECLARED if spec.metadata["kind"].may_be_file]
    strange = [name for name in environ if name.startswith(PREFIX) and name not in known]
    return [
        SettingError(name, f"is no setting; did you mean {_nearest(name, known)}?")
        for name in sorted(strange)
        if _SERVICE_LINK.fullmatch(name) is None
    ]


def _nearest(name: str, known: list[str]) -> str:
    return difflib.get_close_matches(name, known, n=1, cutoff=0.0)[0]


def _together(values: Mapping[str, Any]) -> list[SettingError]:
    """Settings that make sense only with one another."""
    if "twilio_auth_token" in values and "twilio_api_key" in values:
        return [SettingError(variable("twilio_api_key"), "give either an auth token or an API key, not both")]
    if ("twilio_api_key" in values) != ("twilio_api_secret" in values):
        lacking = "twilio_api_secret" if "twilio_api_key" in values else "twilio_api_key"
        return [SettingError(variable(lacking), "an API key needs both its SID and its secret")]
    return []


def _written(value: object) -> str:
    """The text from which a value is read back."""
    if isinstance(value, Secret):
        return value.reveal()
    return str(value).lower() if isinstance(value, bool) else str(value)
