from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct, structs

from streams.records.delivery import Delivery
from streams.rendering.bad_template import BadTemplate
from streams.rendering.message import PushMessage, SmsMessage
from streams.rendering.render import render


class Text(Struct, frozen=True):
    locale: str
    body: str
    title: str = ""


class Texts:
    """A catalog of one template: every text serves all channels."""

    def __init__(self, *texts: Text) -> None:
        self._texts = {text.locale: text for text in texts}

    def template(self, name: str, version: int, locale: str, channel: str) -> Text | None:
        return self._texts.get(locale) if (name, version) == ("shipped", 3) else None

    def locales(self, locale: str) -> tuple[str, ...]:
        return (locale, locale.partition("-")[0], "en")


def a_delivery(channel: str, data: dict[str, Any], locale: str = "en") -> Delivery:
    """Return a delivery of the template under test."""
    return Delivery(
        delivery_id="d-1",
        notification_id="n-1",
        tenant="default",
        user_id="u-1",
        type="order_shipped",
        category="orders",
        lane="transactional",
        channel=channel,
        endpoint="phone",
        address="token-1",
        template="shipped",
        version=3,
        locale=locale,
        data=data,
        cohort_at_ms=0,
        decided_at_ms=0,
        send_until_ms=0,
        expires_at_ms=0,
    )


def rendered(channel: str, body: str, data: dict[str, Any], title: str = "") -> Any:
    """Return what an English text renders to."""
    return render(a_delivery(channel, data), Texts(Text("en", body, title)))


def test_a_push_message_carries_its_text_and_the_data_as_strings() -> None:
    """Values fill the placeholders, and the app gets the data beside the text."""
    message = rendered("push", "Order {{ order }} is on its way.", {"order": 7}, "Shipped")
    assert message == PushMessage(
        "Shipped",
        "Order 7 is on its way.",
        {"order": "7", "notification_id": "n-1", "type": "order_shipped"},
    )


def test_an_sms_carries_its_number_of_parts() -> None:
    """A text message knows what a gateway will bill."""
    assert rendered("sms", "Your code is {{ code }}.", {"code": "482913"}) == SmsMessage(
        "Your code is 482913.", 1
    )


@pytest.mark.parametrize("data", [{}, {"pct": None}, {"pct": ""}, {"pct": float("nan")}])
def test_a_missing_parameter_is_an_error_and_never_a_blank(data: dict[str, Any]) -> None:
    """A sale without its percentage must not go out (R-092, TPL-06)."""
    assert rendered("sms", "Eid sale: {{ pct }}% off", data) == BadTemplate(
        'shipped@3 sms en: missing parameter "pct"'
    )


@pytest.mark.parametrize("data", [{"name": "Rahim", "note": None}, {"name": "Rahim", "extra": 1}])
def test_an_optional_parameter_may_be_missing(data: dict[str, Any]) -> None:
    """What the template tests or defaults is optional, and unknown fields are ignored (TPL-06)."""
    body = "{{ name }}{% if note %}: {{ note }}{% endif %}{{ note | default: '' }}!"
    assert rendered("sms", body, data) == SmsMessage("Rahim!", 1)


def test_a_missing_field_of_an_object_is_named_by_its_path() -> None:
    """The reason says which field of the data was looked for."""
    assert rendered("sms", "{{ shop.name }}", {"shop": {"id": 1}}) == BadTemplate(
        'shipped@3 sms en: missing parameter "shop.name"'
    )


def test_an_object_is_never_printed_whole() -> None:
    """No Python or JSON notation reaches a user."""
    assert isinstance(rendered("sms", "{{ shop }}", {"shop": {"id": 1}}), BadTemplate)


@pytest.mark.parametrize("body", ["Hi {{ name", "Hi {{ name }", "Hi {name}", "{% if name", "Hi name }}"])
def test_an_unclosed_placeholder_is_an_error(body: str) -> None:
    """A placeholder that would be printed as it stands is refused (R-092)."""
    outcome = rendered("sms", body, {"name": "Rahim"})
    assert isinstance(outcome, BadTemplate)
    assert "unclosed placeholder" in outcome.detail


@pytest.mark.parametrize("channel", ["push", "sms"])
def test_values_are_text_outside_of_html(channel: str) -> None:
    """Nothing is escaped for a screen that shows plain text (TPL-02)."""
    outcome = rendered(channel, "{{ shop }}", {"shop": "C&A <b>"}, "{{ shop }}")
    assert (outcome.text if channel == "sms" else outcome.title) == "C&A <b>"


@pytest.mark.parametrize(
    "order", ["7\r\nBcc: x", "7\u2028Bcc: x", "7\x85Bcc: x", "7\rBcc: x", "7\x0b\x0cBcc: x"]
)
def test_a_title_is_one_line(order: str) -> None:
    """Line breaks of a value become one space, and the edges go (TPL-01)."""
    outcome = rendered("push", "b", {"n": order}, "Order {{ n }}\n")
    assert outcome.title == "Order 7 Bcc: x"


def test_a_bengali_text_is_sent_code_point_for_code_point() -> None:
    """Joiners are spelling (I18-02), and nothing becomes a question mark (SMS-07)."""
    text = "র‍্যাব: ৳১০০ পেয়েছেন"
    assert rendered("sms", "{{ text }}", {"text": text}) == SmsMessage(text, 1)


def test_filters_write_numbers_money_and_dates_in_the_language_of_the_text() -> None:
    """Bengali digits and months where a template asks, ASCII everywhere else (I18-01, R-096)."""
    body = "{{ n | number }} {{ n | money }} {{ on | day }} {{ code }}"
    data = {"n": 1234567.5, "on": "2026-02-21", "code": "482913"}
    texts = Texts(Text("bn", body), Text("en", body))
    bengali, english = (render(a_delivery("sms", data, locale), texts) for locale in ("bn-BD", "en"))
    assert bengali == SmsMessage("১২,৩৪,৫৬৭.৫ ১২,৩৪,৫৬৭.৫০৳ ২১ ফেব্রুয়ারি, ২০২৬ 482913", 1)
    assert english == SmsMessage("1,234,567.5 BDT 1,234,567.50 21 February 2026 482913", 1)


def test_a_filter_that_gets_nonsense_is_an_error_without_the_value() -> None:
    """The reason never quotes personal data."""
    outcome = rendered("sms", "{{ n | money }}", {"n": "Rahim"})
    assert isinstance(outcome, BadTemplate)
    assert "Rahim" not in outcome.detail


def test_a_message_is_whole_in_one_language() -> None:
    """A translation without a body is no translation: both title and body come from the next (I18-04)."""
    texts = Texts(Text("bn", "", "শিরোনাম"), Text("en", "Body", "Title"))
    message = render(a_delivery("push", {}, "bn"), texts)
    assert isinstance(message, PushMessage)
    assert (message.title, message.body) == ("Title", "Body")


def test_direction_controls_do_not_reach_the_rest_of_the_sentence() -> None:
    """A name cannot turn an amount around: isolated on a screen, removed in an SMS (TPL-08)."""
    data = {"name": "\u2069\u202emihaR"}
    assert rendered("push", "{{ name }} sent 500", data).body == "\u2068mihaR\u2069 sent 500"
    assert rendered("sms", "{{ name }} sent 500", data).text == "mihaR sent 500"


def test_an_sms_value_loses_its_links_unless_its_field_is_one() -> None:
    """A sender's name spreads no fraud link; a tracking link that the producer gives stays (R-101)."""
    data = {"name": "Win http://evil.test/x now", "track_url": "https://n.example/t/1"}
    assert rendered("sms", "{{ name }}: {{ track_url }}", data).text == "Win now: https://n.example/t/1"


def test_reserved_keys_and_null_are_left_out_of_push_data() -> None:
    """FCM refuses a message with reserved keys or values that are no strings (TPL-07)."""
    data = {
        "order_id": 1001,
        "vip": True,
        "items": [1, 2],
        "note": None,
        "amt": 1.10,
        "from": "x",
        "google.a": 1,
    }
    assert rendered("push", "b", data).data == {
        "order_id": "1001",
        "vip": "true",
        "items": "[1,2]",
        "amt": "1.1",
        "notification_id": "n-1",
        "type": "order_shipped",
    }


@pytest.mark.parametrize("letter", ["আ", "ক্ষি", "👨‍👩‍👧", '"'])
def test_a_long_push_body_is_cut_by_bytes_between_letters(letter: str) -> None:
    """The payload stays within 4,096 bytes and ends in whole letters and an ellipsis (TPL-09)."""
    message = rendered("push", letter * 2000, {}, "t")
    assert len(msgspec.json.encode(message)) <= 4096
    assert message.body.endswith("…")
    assert message.body.removesuffix("…").replace(letter, "") == ""


def test_as_much_as_fits_is_kept() -> None:
    """Of 1,400 three-byte letters, more than 1,250 stay."""
    assert len(rendered("push", "আ" * 1400, {}, "t").body) > 1250


def test_data_that_leaves_no_room_is_an_error() -> None:
    """The app's data is never cut."""
    assert isinstance(rendered("push", "body " * 20, {"blob": "x" * 4000}), BadTemplate)


def test_an_empty_text_is_an_error() -> None:
    """A template that renders to nothing is not sent."""
    assert isinstance(rendered("sms", "{% if x %}y{% endif %} ", {}), BadTemplate)


@pytest.mark.parametrize("channel, version", [("carrier_pigeon", 3), ("sms", 4)])
def test_what_cannot_be_rendered_is_a_value(channel: str, version: int) -> None:
    """An unknown channel or an unknown version is a reason, not an exception."""
    delivery = structs.replace(a_delivery(channel, {}), version=version)
    assert isinstance(render(delivery, Texts(Text("en", "b"))), BadTemplate)


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(value=_json, channel=st.sampled_from(["push", "sms"]))
def test_no_value_makes_rendering_raise(value: Any, channel: str) -> None:
    """Whatever JSON holds ends in a message or a reason."""
    body = "a{{ x }}b{{ x | money | default: '1' }}{% for i in x %}{{ i }}{% endfor %}"
    for source in (body, "a{{ x }}b", "a{{ x | number }}", "a{{ x | day }}", "a{{ x.y.z }}"):
        rendered(channel, source, {"x": value, "y": value}, "{{ x | upcase }}")
