"""The catalog's folder is read whole, or refused with everything that is wrong."""

import shutil
from pathlib import Path

import pytest

from connectors.catalog_files import check_catalog, read_catalog
from streams.catalog import Catalog
from streams.errors import SettingError
from streams.topics import Lane

SHIPPED = Path(__file__).parents[2] / "catalog"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the shipped catalog, to be spoilt."""
    return Path(shutil.copytree(SHIPPED, tmp_path / "catalog"))


def test_the_shipped_catalog_is_fine() -> None:
    """With its five types in their lanes, and both languages."""
    catalog = read_catalog(SHIPPED)
    lanes = {name: kind.lane for name, kind in catalog.types.items()}
    assert lanes == {
        "otp": Lane.CRITICAL,
        "security_alert": Lane.CRITICAL,
        "order_shipped": Lane.TRANSACTIONAL,
        "payment_received": Lane.TRANSACTIONAL,
        "weekly_offer": Lane.BULK,
    }
    assert catalog.locales("bn") == ("bn", "en")


def test_an_unknown_zone_of_a_tenant_is_refused(folder: Path) -> None:
    """Before anybody's night is computed in it."""
    (folder / "tenants.yaml").write_text("default: {zone: Asia/Daka}")
    found = check_catalog(folder)
    assert not isinstance(found, Catalog)
    assert [(problem.path, problem.pointer) for problem in found] == [("tenants.yaml", "/default/zone")]


def test_a_file_that_is_no_text_is_named(folder: Path) -> None:
    """Bytes in another encoding are a problem of that file, not a traceback."""
    (folder / "types" / "otp" / "v1.bn.yaml").write_bytes("sms: {body: ä}".encode("latin-1"))
    found = check_catalog(folder)
    assert not isinstance(found, Catalog)
    assert found[0].path == "types/otp/v1.bn.yaml"


def test_a_role_refuses_a_broken_catalog_in_one_line(folder: Path) -> None:
    """With the first problem, how many there are, and how to see them all."""
    (folder / "types" / "otp" / "type.yaml").write_text("lane: critcal")
    with pytest.raises(
        SettingError, match=r"types/otp/type.yaml .* more\); `harkara catalog check` shows all"
    ):
        read_catalog(folder)


def test_a_folder_that_is_not_there_is_no_catalog(tmp_path: Path) -> None:
    """It says which files are missing."""
    found = check_catalog(tmp_path / "nowhere")
    assert not isinstance(found, Catalog)
    assert {problem.message for problem in found} >= {"is missing"}
