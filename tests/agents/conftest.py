"""The shipped catalog, and users the router knows."""

from pathlib import Path

import pytest

from connectors.catalog_files import read_catalog
from connectors.kafka.block import Writes
from harkara.testing import RecordingTransport
from streams.catalog import Catalog
from streams.records.state import Contact, Device, Profile
from tables.preferences import Preferences

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    return read_catalog(ROOT / "catalog")


def know(transport: RecordingTransport, users: int) -> None:
    """Make users u0… known: a phone, a device, consent to marketing, awake all day."""
    writes = Writes(0)
    for i in range(users):
        profile = Profile(
            zone="Asia/Dhaka",
            contacts=(Contact("sms", f"+880171100{i:04d}", True),),
            devices=(Device(f"d{i}", f"token-{i}", "android", "", 0),),
            consents={"marketing": True},
        )
        Preferences(transport.view).save(writes, f"u{i}".encode(), profile)
    transport.apply(writes)
