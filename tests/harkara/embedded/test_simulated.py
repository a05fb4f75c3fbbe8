"""What senders and the simulator share: accounts, token and addresses."""

import stat
from pathlib import Path

from connectors.simulator.script import Script, read_script
from harkara.embedded.simulated import SimulatedProviders
from harkara.secret import Secret
from harkara.settings import Settings


def _prepared(folder: Path) -> SimulatedProviders:
    providers = SimulatedProviders(folder, 20_001, 20_002, 20_003)
    providers.prepare(Script(seed=3))
    return providers


def test_what_senders_are_given_is_a_full_configuration(tmp_path: Path) -> None:
    """The settings that a sender reads from that environment name both accounts and both ports."""
    settings = Settings.from_environ(_prepared(tmp_path).environ(Settings()))
    assert settings.fcm_url == "http://127.0.0.1:20002"
    assert settings.fcm_service_account is not None
    assert '"token_uri": "http://127.0.0.1:20001/token"' in settings.fcm_service_account.reveal()
    assert settings.twilio_url == "http://127.0.0.1:20003"
    assert settings.twilio_auth_token is not None


def test_a_provider_of_ones_own_is_called_for_real(tmp_path: Path) -> None:
    """The simulator stands only for what the settings do not configure."""
    own = Settings(fcm_service_account=Secret("{}"))
    assert all("TWILIO" in name for name in _prepared(tmp_path).environ(own))


def test_accounts_outlive_a_restart(tmp_path: Path) -> None:
    """A second start keeps accounts and token, so that nothing that runs is locked out."""
    first = _prepared(tmp_path).environ(Settings())
    token = (tmp_path / "simulator" / "token").read_text()
    assert _prepared(tmp_path).environ(Settings()) == first
    assert (tmp_path / "simulator" / "token").read_text() == token


def test_only_the_owner_reads_its_secrets(tmp_path: Path) -> None:
    """Token, accounts and keys are files of mode 600; the script, which is no secret, is what was given."""
    _prepared(tmp_path)
    for name in ("token", "twilio-auth-token", "credentials.json", "fcm-service-account.json"):
        assert stat.S_IMODE((tmp_path / "simulator" / name).stat().st_mode) == 0o600
    assert read_script(tmp_path / "simulator" / "script.json") == Script(seed=3)
