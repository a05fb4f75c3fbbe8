from urllib.parse import urlsplit

import pytest

from connectors.providers.callback import callback_url, delivery_of

SECRET = b"a secret of the tests"


@pytest.mark.parametrize("delivery_id", ["9f1c", "with space&sig=x", "অর্ডার", ""])
def test_a_signed_delivery_id_comes_back(delivery_id: str) -> None:
    """What a provider reports to is the delivery it was asked for."""
    query = urlsplit(callback_url("https://harkara.example/w", delivery_id, SECRET)).query
    assert delivery_of(query, SECRET) == (delivery_id or "")


@pytest.mark.parametrize("query", ["", "delivery_id=d-2", "delivery_id=d-2&sig=", "delivery_id=d-2&sig=%ff"])
def test_nobody_names_another_delivery(query: str) -> None:
    """Without our signature a query names nothing."""
    signature = urlsplit(callback_url("x", "d-1", SECRET)).query.partition("&")[2]
    assert delivery_of(query, SECRET) is None
    assert delivery_of(f"delivery_id=d-2&{signature}", SECRET) is None
    assert delivery_of(f"delivery_id=d-1&{signature}", b"another secret") is None
