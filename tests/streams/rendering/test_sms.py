import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.rendering.sms import segments, sendable


@pytest.mark.parametrize(
    "text, parts",
    [
        ("", 1),
        ("a" * 160, 1),  # SMS-01
        ("a" * 161, 2),
        ("a" * 306, 2),
        ("a" * 307, 3),
        ("a" * 158 + "€", 1),
        ("a" * 159 + "€", 2),
        ("]" * 80, 1),
        ("]" * 81, 2),
        ("]" * 152, 2),  # SMS-02: an escape pair is never split
        ("]" * 153, 3),
        ("|" * 69 + "∞", 1),  # SMS-03: no pairs in UCS-2
        ("|" * 68 + "🐳", 1),
        ("🐳" * 35, 1),  # SMS-04
        ("🐳" * 36, 2),
        ("🐳" * 66, 2),
        ("🐳" * 67, 3),
        ("ক" * 66 + "🎉" + "ক" * 66, 3),
        ("ক" * 70, 1),
        ("ক" * 71, 2),
        ("ক" * 134, 2),
        ("ক" * 135, 3),
        ("ø" * 100, 1),  # SMS-08: parts are not counted in an encoding of transport
        ("a b" * 40, 1),
        ("a\nb\nc\nd", 1),
    ],
)
def test_parts_are_counted_as_a_gateway_bills_them(text: str, parts: int) -> None:
    """Septets, UTF-16 units and pairs that stay together decide (R-098)."""
    assert segments(text) == parts


def test_120_letters_are_two_parts_in_bengali_and_one_in_english() -> None:
    """The same length costs twice as much in Bengali (R-099)."""
    assert (segments("ক" * 120), segments("a" * 120)) == (2, 1)


@pytest.mark.parametrize("char", list("`ç“–…\u00a0\u200b\x1b\t"))
def test_one_character_outside_the_alphabet_turns_the_text_to_unicode(char: str) -> None:
    """71 characters with one of them are two parts (R-098)."""
    assert segments("a" * 70 + char) == 2


@pytest.mark.parametrize(
    "text, sent",
    [
        ("a" * 159 + "\u00a0", "a" * 159 + " "),  # SMS-05
        ("a" * 159 + "\u202f", "a" * 159 + " "),
        ("a" * 159 + "\u200b", "a" * 159),
        ("“5 – 6”", '"5 - 6"'),  # SMS-07
        ("café", "café"),
        ("cafe\u0301", "café"),
        ("Gr\u200cuss", "Gruss"),  # I18-02
    ],
)
def test_look_alikes_keep_a_text_in_one_part(text: str, sent: str) -> None:
    """Where meaning and letters stay, invisible and typographic characters cost nothing."""
    assert (sendable(text), segments(sendable(text))) == (sent, 1)


@pytest.mark.parametrize("text", ["৳১০০ “পেয়েছেন”", "র‍্যাব", "naïve – наив", "য়"])
def test_a_text_that_needs_unicode_is_left_untouched(text: str) -> None:
    """No letter is dropped or replaced to save a part (SMS-07, I18-02)."""
    assert sendable(text) == text


@given(text=st.text(max_size=700))
def test_parts_lie_between_the_two_simple_bounds(text: str) -> None:
    """Packing pairs costs at most one unit a part more than dividing."""
    units = len(text.encode("utf-16-be")) // 2
    assert -(-units // 160) <= segments(text) <= max(1, -(-units // 66) * 2)
