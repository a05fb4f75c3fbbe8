"""A secret stays one."""

from harkara.secret import Secret


def test_secret_is_shown_only_on_purpose() -> None:
    """Formatting, listing and repr give stars; `reveal` gives the text."""
    secret = Secret("hush")
    assert f"{secret}" == str(secret) == repr(secret) == str([secret])[1:-1] == "***"
    assert secret.reveal() == "hush"


def test_secrets_compare_by_text() -> None:
    """Equal texts make equal secrets; a text is never equal to a secret."""
    assert Secret("a") == Secret("a")
    assert len({Secret("a"), Secret("a"), Secret("b")}) == 2
    assert Secret("a") != "a"
