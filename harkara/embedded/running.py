"""Lets a question be asked whether the stack is up or not."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from connectors.embedded.addresses import Addresses
from connectors.embedded.progress import reporter_on
from connectors.embedded.stack import Stack
from harkara.addresses import addresses_of
from harkara.settings import Settings, variable
from streams.errors import SettingError


@contextmanager
def running_stack(settings: Settings) -> Iterator[Addresses]:
    """Yield the addresses of the stack that runs; one that does not run is started meanwhile.

    Only the servers are started, for some seconds, never the roles: a question changes nothing.
    Raises SettingError when the folder holds no data, FolderHeld when another process has it.
    """
    given = (settings.kafka, settings.redis, settings.clickhouse)
    if Addresses.read(settings.folder) is not None or None not in given:
        yield addresses_of(settings)
        return
    if not (settings.folder / "clickhouse").is_dir() and settings.clickhouse is None:
        raise SettingError(
            variable("folder"),
            f"{settings.folder} holds no data yet: `harkara demo` or `harkara up` makes some",
        )
    stack = Stack(
        settings.folder,
        kafka=settings.kafka,
        redis=settings.redis,
        clickhouse=settings.clickhouse,
        cache=settings.cache,
        progress=reporter_on(sys.stderr),
    )
    with stack:
        yield stack.addresses
