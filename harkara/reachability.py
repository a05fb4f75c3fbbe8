"""Asks everything that the settings name whether it answers."""

import socket
from urllib.parse import urlsplit

from harkara.setting_kinds import shown
from harkara.settings import Settings, variable
from streams.errors import SettingError

TIMEOUT_S = 5.0


def unreachable(settings: Settings) -> list[SettingError]:
    """Each configured address that does not answer within five seconds, with what to look at.

    What is embedded is not asked (it starts when needed), nor a provider without an account.
    """
    checks = [
        ("kafka", settings.kafka, _kafka),
        ("redis", settings.redis, _redis),
        ("clickhouse", settings.clickhouse, _clickhouse),
        ("fcm_url", settings.fcm_url if settings.fcm_project_id else None, _connects),
        ("twilio_url", settings.twilio_url if settings.twilio_account_sid else None, _connects),
    ]
    silent = []
    for name, address, ask in checks:
        if address is not None and (why := ask(address)) is not None:
            silent.append(SettingError(variable(name), f"{shown(address)} {why}"))
    return silent


def _kafka(brokers: str) -> str | None:
    from confluent_kafka import KafkaException
    from confluent_kafka.admin import AdminClient

    # log_level 0: librdkafka would write each failed attempt to standard error.
    admin = AdminClient({"bootstrap.servers": brokers, "log_level": 0})
    try:
        admin.list_topics(timeout=TIMEOUT_S)
    except KafkaException as error:
        return f"is not a Kafka that answers ({error.args[0].name()}); is it started, and its address right?"
    return None


def _redis(url: str) -> str | None:
    import redis

    client = redis.Redis.from_url(url, socket_timeout=TIMEOUT_S, socket_connect_timeout=TIMEOUT_S)
    try:
        client.ping()
    except redis.AuthenticationError:
        return "refuses the user or password in the URL"
    except redis.RedisError as error:
        return f"does not answer a ping ({type(error).__name__}); is it started, and its address right?"
    finally:
        client.close()
    return None


def _clickhouse(url: str) -> str | None:
    import clickhouse_connect
    from clickhouse_connect.driver.exceptions import ClickHouseError

    try:
        client = clickhouse_connect.get_client(
            dsn=url,
            interface=urlsplit(url).scheme,  # else TLS would depend on the port's number
            connect_timeout=int(TIMEOUT_S),
            send_receive_timeout=int(TIMEOUT_S),
        )
    except ClickHouseError as error:
        return (
            f"does not answer a query ({type(error).__name__}); is it started, and user and password right?"
        )
    client.close()
    return None


def _connects(url: str) -> str | None:
    parts = urlsplit(url)
    port = parts.port or {"https": 443, "http": 80}[parts.scheme]
    try:
        socket.create_connection((parts.hostname, port), timeout=TIMEOUT_S).close()
    except OSError as error:
        return f"cannot be reached ({type(error).__name__}); does a firewall or proxy stand between?"
    return None
