"""Where this process finds Kafka, Valkey and ClickHouse: the settings, else the stack that runs."""

from connectors.embedded.addresses import Addresses
from harkara.settings import Settings, variable
from streams.errors import SettingError


def addresses_of(settings: Settings) -> Addresses:
    """Return the three addresses; each setting beats the running stack's.

    Raises SettingError for one that neither names.
    """
    running = Addresses.read(settings.folder)
    found = {
        "kafka": settings.kafka or (running.kafka if running else None),
        "redis": settings.redis or (running.redis if running else None),
        "clickhouse": settings.clickhouse or (running.clickhouse if running else None),
    }
    for name, value in found.items():
        if value is None:
            raise SettingError(
                variable(name), "set it, or start the embedded stack in this folder with `harkara up`"
            )
    return Addresses(
        str(found["kafka"]),
        str(found["redis"]),
        str(found["clickhouse"]),
        running.simulator if running else None,
    )
