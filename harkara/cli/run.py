"""`harkara run`: one role in this process, as a container or a supervisor starts it."""

import click

from harkara import logs
from harkara.addresses import addresses_of
from harkara.catalogs import catalog_of
from harkara.cli.options import with_settings
from harkara.roles import ROLES, Context
from harkara.settings import Settings
from harkara.worker import run
from streams.topics import ACTIVE_CHANNELS, LANES, Channel, Lane

_CHANNELS = [channel.value for channel in ACTIVE_CHANNELS]
_LANES = [lane.value for lane in LANES]


@click.command()
@click.argument("role", type=click.Choice(list(ROLES)))
@click.option("--channel", type=click.Choice(_CHANNELS), help="sender: only this channel")
@click.option("--lane", type=click.Choice(_LANES), help="sender: only this lane")
@with_settings
def command(settings: Settings, role: str, channel: str | None, lane: str | None) -> None:
    """Run a role until it is told to stop.

    It waits for Kafka, drains on SIGTERM, and exits on what it cannot handle: let a supervisor
    restart it. Nothing accepted is lost by that.
    """
    logs.configure(role, settings.log_level, settings.log_format)
    addresses = addresses_of(settings)
    catalog = catalog_of(settings)
    more = {}
    if role == "sender":
        more = {
            "channels": (Channel(channel),) if channel else ACTIVE_CHANNELS,
            "lanes": (Lane(lane),) if lane else LANES,
        }
    run(
        addresses.kafka,
        lambda: ROLES[role](Context.of(settings, addresses, catalog), **more),
        settings.status_port,
    )
