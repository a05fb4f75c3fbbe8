"""Numbers, money and dates as a reader of the language expects them (R-096, I18-01).

Digits change only where a template asks for it by one of these filters: codes, order numbers
and links stay ASCII.
"""

from collections.abc import Callable
from datetime import date
from decimal import Decimal, InvalidOperation

from liquid.exceptions import FilterArgumentError

_BENGALI_DIGITS = str.maketrans("0123456789", "০১২৩৪৫৬৭৮৯")
_MONTHS = {
    "bn": (
        *("জানুয়ারি", "ফেব্রুয়ারি", "মার্চ", "এপ্রিল", "মে", "জুন"),
        *("জুলাই", "আগস্ট", "সেপ্টেম্বর", "অক্টোবর", "নভেম্বর", "ডিসেম্বর"),
    ),
    "en": (
        *("January", "February", "March", "April", "May", "June"),
        *("July", "August", "September", "October", "November", "December"),
    ),
}

Filter = Callable[..., str]


def filters_of(language: str) -> dict[str, Filter]:
    """Return the filters `number`, `money` and `day` for a language ("bn"; all others read English)."""
    return _BENGALI if language == "bn" else _ENGLISH


def _number_bn(value: object) -> str:
    sign, whole, fraction = _parts(_decimal(value))
    head, tail = whole[:-3], whole[-3:]
    pairs = [head[max(0, end - 2) : end] for end in range(len(head), 0, -2)]
    return (sign + ",".join([*reversed(pairs), tail]) + fraction).translate(_BENGALI_DIGITS)


def _number_en(value: object) -> str:
    sign, whole, fraction = _parts(_decimal(value))
    return f"{sign}{int(whole):,}{fraction}"


def _money_bn(value: object, currency: str = "BDT") -> str:
    amount = _number_bn(_cents(value))
    return f"{amount}৳" if currency == "BDT" else f"{amount} {currency}"


def _money_en(value: object, currency: str = "BDT") -> str:
    return f"{currency} {_number_en(_cents(value))}"


def _day_bn(value: object) -> str:
    day = _date(value)
    return f"{day.day} {_MONTHS['bn'][day.month - 1]}, {day.year}".translate(_BENGALI_DIGITS)


def _day_en(value: object) -> str:
    day = _date(value)
    return f"{day.day} {_MONTHS['en'][day.month - 1]} {day.year}"


_BENGALI: dict[str, Filter] = {"number": _number_bn, "money": _money_bn, "day": _day_bn}
_ENGLISH: dict[str, Filter] = {"number": _number_en, "money": _money_en, "day": _day_en}


def _decimal(value: object) -> Decimal:
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        raise FilterArgumentError("not a number", token=None) from None
    # A number of a thousand digits is no amount of anything.
    if not number.is_finite() or abs(number.adjusted()) > 30:
        raise FilterArgumentError("not a number", token=None)
    return number


def _cents(value: object) -> Decimal:
    """Return the amount with two decimals, or none when it is whole."""
    amount = round(_decimal(value), 2)
    return amount.to_integral_value() if amount == amount.to_integral_value() else amount


def _parts(number: Decimal) -> tuple[str, str, str]:
    whole, dot, fraction = f"{abs(number):f}".partition(".")
    return ("-" if number < 0 else ""), whole, dot + fraction


def _date(value: object) -> date:
    try:
        return date.fromisoformat(str(value)[:10])
    except ValueError:
        raise FilterArgumentError("not a date of the form YYYY-MM-DD", token=None) from None
