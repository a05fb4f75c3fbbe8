"""Addresses in one spelling; what cannot exist is refused."""

import pytest

from streams.policy.addresses import canonical


@pytest.mark.parametrize(
    "text",
    [
        "01712345678",
        "8801712345678",
        "+88001712345678",
        "০১৭১২৩৪৫৬৭৮",
        "00 880 1712345678",
        "+880 1712-345 678",
        "\u202a+8801712345678\u202c",
    ],
)
def test_one_number_in_every_spelling(text: str) -> None:
    """Trunk zero, native digits, prefixes and direction marks (VAL-01)."""
    assert canonical("sms", text) == "+8801712345678"


@pytest.mark.parametrize(
    "text",
    ["", "0171234567", "017123456789", "01212345678", "999", "1-800-FLOWERS", "+8801712345678 x12", "number"],
)
def test_what_no_phone_has_is_refused(text: str) -> None:
    """Too short, too long, unassigned, a word, an extension (VAL-01)."""
    assert canonical("sms", text) is None


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("rahim+x@example.com", "rahim+x@example.com"),
        ('"quoted name"@example.com', '"quoted name"@example.com'),
        ("o'brien@Example.COM", "o'brien@example.com"),
        ("user@bücher.example", "user@xn--bcher-kva.example"),
        ("a..b@example.com", None),
        ("a@b", None),
        ("@example.com", None),
        ("user@example.com\r\nBcc: x@evil.test", None),
        ("user@-example.com", None),
        (f"{'x' * 65}@example.com", None),
    ],
)
def test_mail_addresses_keep_their_local_part(text: str, kept: str | None) -> None:
    """The domain goes to ASCII and lower case, the local part stays (VAL-02, VAL-03)."""
    assert canonical("email", text) == kept


@pytest.mark.parametrize(
    ("text", "kept"),
    [("abc:def-_1", "abc:def-_1"), ("", None), ("a b", None), ("a\0b", None), ("x" * 5000, None)],
)
def test_tokens_are_kept_as_they_are(text: str, kept: str | None) -> None:
    """A push token is opaque: only its length and characters are looked at."""
    assert canonical("push", text) == kept


def test_other_channels_have_no_addresses_yet() -> None:
    """An inbox is reached by the user's id."""
    assert canonical("inbox", "u1") is None
