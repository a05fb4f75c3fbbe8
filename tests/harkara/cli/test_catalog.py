"""`harkara catalog check`."""

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harkara.cli import main
from harkara.settings import DECLARED

SHIPPED = Path(__file__).parents[3] / "catalog"


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting of the person who runs the tests reaches them."""
    for spec in DECLARED:
        monkeypatch.delenv(f"HARKARA_{spec.name.upper()}", raising=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the shipped catalog, to be spoilt."""
    return Path(shutil.copytree(SHIPPED, tmp_path / "catalog"))


def check(*arguments: str) -> Result:
    return CliRunner().invoke(main, ("catalog", "check", *arguments))


def test_the_shipped_catalog_is_fine() -> None:
    """Every text can be made, in both languages, each text message in one part."""
    found = check("--json")
    assert found.exit_code == 0, found.output
    answer = json.loads(found.stdout)
    assert answer["problems"] == []
    assert len(answer["texts"]) == 18
    assert {text["parts"] for text in answer["texts"] if text["channel"] == "sms"} == {1}


def test_a_table_for_people() -> None:
    """Type, language, channel and how many parts are billed."""
    found = check()
    assert found.exit_code == 0
    assert "payment_received" in found.stdout
    assert "SMS parts" in found.stdout


@pytest.mark.parametrize(
    ("path", "text", "says"),
    [
        (
            "types/otp/v1.bn.yaml",
            'sms: {body: "{{ cod }}"}',
            '/sms: reads "cod", which the data of otp does not have',
        ),
        ("types/otp/v1.bn.yaml", 'sms: {body: "{{ code "}', "unclosed placeholder"),
        ("types/otp/v1.bn.yaml", 'sms: {body: "{{ code | shout }}"}', "unknown filter shout"),
        ("types/weekly_offer/v1.bn.yaml", 'push: {title: x, body: "{{ percent | day }}"}', "/push"),
        ("types/weekly_offer/v1.en.yaml", "push: {title: x}", "/push/body: is missing"),
        (
            "defaults.yaml",
            "providers: {push: [fcm], sms: [pigeon]}",
            '/providers/sms: "pigeon" is no provider',
        ),
        ("categories.yaml", "marketing: {}", "is not known"),
    ],
)
def test_a_mistake_is_shown_and_is_the_exit_code(folder: Path, path: str, text: str, says: str) -> None:
    """One line each on standard error; exit 2 (R-097)."""
    (folder / path).write_text(text)
    found = check(str(folder))
    assert found.exit_code == 2
    assert says in found.stderr
    assert json.loads(check(str(folder), "--json").stdout)["problems"]


def test_a_note_keeps_nobody_from_sending(folder: Path) -> None:
    """Many parts, and a policy that is not there yet."""
    body = "ক" * 200
    (folder / "types/otp/v1.bn.yaml").write_text(f'sms: {{body: "{body} {{{{ code }}}}"}}')
    kind = folder / "types/otp/type.yaml"
    kind.write_text(kind.read_text().replace("unknown: resend", "unknown: wait"))
    found = check(str(folder))
    assert found.exit_code == 0
    assert "goes out in 4 parts" in found.stderr
    assert "acts like give_up" in found.stderr
