"""Which catalog this process serves: the configured folder, else the one that came with harkara."""

from pathlib import Path

from connectors.catalog_files import read_catalog
from harkara.settings import Settings
from streams.catalog import Catalog

_HERE = Path(__file__).parent
#: In a checkout beside the packages, in a wheel inside this one.
_SHIPPED = (_HERE.parent / "catalog", _HERE / "catalog")


def catalog_folder(settings: Settings) -> Path:
    """Return the folder the catalog is read from."""
    return settings.catalog or next((folder for folder in _SHIPPED if folder.is_dir()), _SHIPPED[0])


def catalog_of(settings: Settings) -> Catalog:
    """Return the catalog; raises SettingError with its first problem if it has any."""
    return read_catalog(catalog_folder(settings))
