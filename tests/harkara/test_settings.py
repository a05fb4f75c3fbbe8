"""How settings are read, refused and handed on."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harkara.secret import Secret
from harkara.settings import DECLARED, Settings, heartbeat_ms, problems, variable
from streams.errors import SettingError

ACCOUNT = '{"client_email": "a@b.c", "private_key": "k", "token_uri": "http://127.0.0.1/token"}'


def test_nothing_given_is_the_embedded_default() -> None:
    """With an empty environment everything is embedded and every value is its default."""
    settings = Settings.from_environ({})
    assert settings == Settings()
    assert (settings.kafka, settings.redis, settings.clickhouse) == (None, None, None)
    assert settings.sources == {}


def test_given_values_are_typed_and_know_their_source() -> None:
    """A variable becomes a value of the setting's type, and its source is the environment."""
    settings = Settings.from_environ(
        {"HARKARA_KAFKA": "kafka://127.0.0.1:9092, 127.0.0.1:9093", "HARKARA_PARTITIONS": "96"}
    )
    assert settings.kafka == "127.0.0.1:9092,127.0.0.1:9093"
    assert settings.partitions == 96
    assert settings.sources == {"kafka": "environment", "partitions": "environment"}


def test_empty_counts_as_not_given() -> None:
    """A template that renders an empty variable leaves the default in force."""
    assert Settings.from_environ({"HARKARA_KAFKA": "", "HARKARA_HASH_KEY_FILE": ""}) == Settings()


def test_folder_of_the_command_line_beats_the_environment(tmp_path: Path) -> None:
    """`--folder` is the last word."""
    settings = Settings.from_environ({"HARKARA_FOLDER": "elsewhere"}, folder=tmp_path)
    assert settings.folder == tmp_path
    assert settings.sources == {"folder": "command line"}


def test_secret_comes_from_a_file(tmp_path: Path) -> None:
    """NAME_FILE gives what the file holds, without its last line break."""
    file = tmp_path / "account.json"
    file.write_text(ACCOUNT + "\n")
    settings = Settings.from_environ({"HARKARA_FCM_SERVICE_ACCOUNT_FILE": str(file)})
    assert settings.fcm_service_account == Secret(ACCOUNT)
    assert settings.sources == {"fcm_service_account": "file"}


def test_no_way_of_printing_shows_a_secret() -> None:
    """Neither the settings nor a secret in a message show what it holds."""
    key = "0123456789abcdef0123456789abcdef"
    settings = Settings.from_environ(
        {"HARKARA_HASH_KEY": key, "HARKARA_REDIS": "redis://u:hush@127.0.0.1:6379"}
    )
    assert f"{settings.hash_key} {settings.hash_key!r}" == "*** ***"
    assert key not in repr(settings)
    assert "hush" not in repr(settings)


@pytest.mark.parametrize(
    ("environ", "name", "mend"),
    [
        ({"HARKARA_PARTITIONS": "four"}, "HARKARA_PARTITIONS", "whole number of partitions from 1"),
        ({"HARKARA_PARTITIONS": "0"}, "HARKARA_PARTITIONS", "from 1 to 4096"),
        ({"HARKARA_ROUTER_SESSION_MS": "30"}, "HARKARA_ROUTER_SESSION_MS", "from 6000"),
        ({"HARKARA_KAFKA": "broker"}, "HARKARA_KAFKA", "host:port"),
        ({"HARKARA_KAFKA": "broker:99999"}, "HARKARA_KAFKA", "host:port"),
        ({"HARKARA_REDIS": "http://127.0.0.1"}, "HARKARA_REDIS", "redis://host:port"),
        ({"HARKARA_CLICKHOUSE": "http://"}, "HARKARA_CLICKHOUSE", "names no host"),
        ({"HARKARA_CLICKHOUSE": "http://h:port"}, "HARKARA_CLICKHOUSE", "cannot be read"),
        ({"HARKARA_LOG_LEVEL": "loud"}, "HARKARA_LOG_LEVEL", "debug, info, warning, error"),
        ({"HARKARA_CLOCK_FOLLOW": "yes"}, "HARKARA_CLOCK_FOLLOW", "true or false"),
        ({"HARKARA_INSTANCE": "a/b"}, "HARKARA_INSTANCE", "letters, digits"),
        ({"HARKARA_HASH_KEY": "short"}, "HARKARA_HASH_KEY", "at least 32"),
        ({"HARKARA_FCM_SERVICE_ACCOUNT": "{"}, "HARKARA_FCM_SERVICE_ACCOUNT", "not JSON"),
        ({"HARKARA_FCM_SERVICE_ACCOUNT": "{}"}, "HARKARA_FCM_SERVICE_ACCOUNT", "lacks client_email"),
        ({"HARKARA_TWILIO_ACCOUNT_SID": "AC1"}, "HARKARA_TWILIO_ACCOUNT_SID", "AC and 32"),
        ({"HARKARA_TWILIO_API_SECRET": "s"}, "HARKARA_TWILIO_API_KEY", "both its SID and its secret"),
        ({"HARKARA_HASH_KEY_FILE": "absent"}, "HARKARA_HASH_KEY", "cannot be read: FileNotFoundError"),
        (
            {"HARKARA_HASH_KEY": "k" * 32, "HARKARA_HASH_KEY_FILE": "f"},
            "HARKARA_HASH_KEY",
            "unset it or HARKARA_HASH_KEY_FILE",
        ),
        ({"HARKARA_PARTITION": "4"}, "HARKARA_PARTITION", "did you mean HARKARA_PARTITIONS?"),
        ({"HARKARA_KAFKA_FILE": "f"}, "HARKARA_KAFKA_FILE", "did you mean HARKARA_KAFKA?"),
    ],
)
def test_wrong_value_names_itself_and_its_mend(environ: dict[str, str], name: str, mend: str) -> None:
    """What cannot work stops the start with the variable's name and what to do."""
    with pytest.raises(SettingError) as caught:
        Settings.from_environ(environ)
    assert caught.value.name == name
    assert mend in caught.value.mend


def test_wrong_secret_is_not_quoted() -> None:
    """The message about a wrong secret or URL never holds its text."""
    for name in ("HARKARA_HASH_KEY", "HARKARA_FCM_SERVICE_ACCOUNT", "HARKARA_REDIS"):
        assert "hush-hush" not in str(problems({name: "hush-hush"})[0])


def test_key_and_token_exclude_each_other() -> None:
    """Two ways to sign in to one account are refused."""
    environ = {
        "HARKARA_TWILIO_AUTH_TOKEN": "t",
        "HARKARA_TWILIO_API_KEY": "SK" + "0" * 32,
        "HARKARA_TWILIO_API_SECRET": "s",
    }
    assert "not both" in problems(environ)[0].mend


def test_every_problem_is_told_at_once() -> None:
    """A person who checks the settings sees all that is wrong."""
    environ = {"HARKARA_PARTITIONS": "x", "HARKARA_REPLICATION": "x", "HARKARA_NOPE": "x"}
    assert [problem.name for problem in problems(environ)] == [
        "HARKARA_PARTITIONS",
        "HARKARA_REPLICATION",
        "HARKARA_NOPE",
    ]


def test_service_links_of_kubernetes_are_no_settings() -> None:
    """The variables that a cluster adds for a service of our name do not stop a pod."""
    environ = {
        "HARKARA_SERVICE_HOST": "10.0.0.1",
        "HARKARA_GATEWAY_SERVICE_PORT_HTTP": "80",
        "HARKARA_GATEWAY_PORT_80_TCP_ADDR": "10.0.0.1",
        "HARKARA_GATEWAY_PORT": "tcp://10.0.0.1:80",
    }
    assert problems(environ) == []


@given(
    partitions=st.integers(1, 4_096),
    follow=st.booleans(),
    host=st.from_regex(r"\A[a-z]{1,8}\Z"),
    token=st.none() | st.from_regex(r"\A[a-z0-9]{1,20}\Z"),
)
def test_another_process_reads_the_same_settings(
    partitions: int, follow: bool, host: str, token: str | None
) -> None:
    """The environment made for a child gives it equal settings and keeps what is not ours."""
    settings = Settings(
        partitions=partitions,
        clock_follow=follow,
        kafka=f"{host}:9092",
        folder=Path("data") / host,
        twilio_auth_token=None if token is None else Secret(token),
    )
    environ = settings.child_environ({"PATH": "/bin", "HARKARA_HASH_KEY_FILE": "gone"})
    assert environ.pop("PATH") == "/bin"
    assert Settings.from_environ(environ) == settings


def test_each_setting_is_explained() -> None:
    """Every setting has a unit and one line of meaning."""
    for spec in DECLARED:
        assert spec.metadata["kind"].unit
        assert spec.metadata["doc"]
        assert "\n" not in spec.metadata["doc"]
        assert variable(spec.name) == f"HARKARA_{spec.name.upper()}"


def test_defaults_pass_their_own_kind() -> None:
    """A default, written out, is read back as itself."""
    environ = {
        variable(spec.name): str(spec.default).lower() for spec in DECLARED if spec.default is not None
    }
    assert Settings.from_environ(environ) == Settings()


def test_heartbeat_is_a_sixth_of_the_session() -> None:
    """The shortest session, 6 s, has a heartbeat a second."""
    assert heartbeat_ms(Settings().critical_sender_session_ms) == 1_000
