"""The kept keys are made once, for all processes of a folder."""

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harkara.keys import callback_secret, hash_key
from harkara.secret import Secret
from harkara.settings import Settings
from streams.errors import SettingError


def test_given_key_is_used(tmp_path: Path) -> None:
    """A configured key wins, and no file is written."""
    assert hash_key(Settings(folder=tmp_path, hash_key=Secret("k" * 32))) == b"k" * 32
    assert list(tmp_path.iterdir()) == []


def test_processes_that_start_together_agree(tmp_path: Path) -> None:
    """However many make it at once, there is one key, readable by its owner only."""
    settings = Settings(folder=tmp_path / "data")
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(lambda _: hash_key(settings), range(32)))
    assert len(keys) == 1
    files = list((tmp_path / "data").iterdir())
    assert [file.name for file in files] == ["hash.key"]
    assert stat.S_IMODE(files[0].stat().st_mode) == 0o600


def test_each_purpose_has_its_own_key(tmp_path: Path) -> None:
    """What leaks of one says nothing about the other."""
    settings = Settings(folder=tmp_path)
    assert hash_key(settings) != callback_secret(settings)
    assert callback_secret(settings) == callback_secret(settings)


def test_damaged_file_is_refused(tmp_path: Path) -> None:
    """An emptied key file stops the process instead of hashing with nothing."""
    (tmp_path / "hash.key").write_text("")
    with pytest.raises(SettingError, match="holds no key"):
        hash_key(Settings(folder=tmp_path))
