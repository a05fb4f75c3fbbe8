"""Reading events: what is fit, what is refused and where, and what identifies it."""

import random
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.ids import notification_id, partition_of
from streams.policy.admission import MAX_BYTES, ORIGIN_HEADER
from streams.policy.request import Request
from streams.reasons import Reason
from streams.records.source import Source
from streams.records.unfit import Foreign, Unfit
from streams.topics import INGEST, Lane
from tests.streams.policy.world import DAY, NOON, PARTITIONS, TOPIC, event, read, request

GOOD = msgspec.json.encode(event())


def refused(found: object) -> Unfit:
    """Return the refusal, which must be one."""
    assert isinstance(found, Unfit), found
    return found


@pytest.mark.parametrize(
    ("more", "reason", "pointer"),
    [
        ({"type": "nothing"}, Reason.UNKNOWN_TYPE, "/type"),
        ({"type": "gone"}, Reason.UNKNOWN_TYPE, "/type"),  # retired: serves only what waits
        ({"notification_id": ""}, Reason.NO_IDENTITY, ""),
        ({"user_id": "u2"}, Reason.KEY_MISMATCH, "/user_id"),
        ({"user_id": 7}, Reason.INVALID_FIELD, "/user_id"),
        ({"data": None}, Reason.INVALID_FIELD, "/data"),
        ({"data": [1]}, Reason.INVALID_FIELD, "/data"),
        ({"created_at": NOON // 1000}, Reason.NOT_MILLISECONDS, "/created_at"),
        ({"send_at": NOON // 1000}, Reason.NOT_MILLISECONDS, "/send_at"),
        ({"expires_at": NOON * 1000}, Reason.NOT_MILLISECONDS, "/expires_at"),
        ({"created_at": -1}, Reason.NOT_MILLISECONDS, "/created_at"),
        ({"created_at": 1.5}, Reason.INVALID_FIELD, "/created_at"),
        ({"created_at": "now"}, Reason.INVALID_FIELD, "/created_at"),
        ({"channels": []}, Reason.INVALID_FIELD, "/channels"),
        ({"channels": ["push", "pigeon"]}, Reason.INVALID_FIELD, "/channels/1"),
        (
            {"idempotency_key": "k" * 256},
            Reason.INVALID_FIELD,
            "/idempotency_key",
        ),  # DED-01: never cut (DED-05)
        ({"address": {"sms": "+8801712345678"}}, Reason.INVALID_FIELD, "/address"),  # no direct type
        ({"type": "otp", "address": {"sms": "12"}}, Reason.INVALID_FIELD, "/address/sms"),
        ({"type": "otp", "address": {"pigeon": "12"}}, Reason.INVALID_FIELD, "/address"),
        ({"data": {"n": 10**30}}, Reason.INVALID_FIELD, "/data"),
    ],
)
def test_a_bad_field_is_refused_with_its_place(more: dict[str, Any], reason: Reason, pointer: str) -> None:
    """Each with its own reason and a pointer to the field, into `rejected`."""
    found = refused(read(event(**more)))
    assert (found.reason, found.pointer, found.dead_letter) == (reason, pointer, False)


def test_a_missing_field_is_pointed_at() -> None:
    """The pointer names what is not there, and the ids that could be read come along."""
    found = refused(read({"user_id": "u1", "type": "order", "notification_id": "n9"}))
    assert (found.reason, found.pointer, found.notification_id) == (Reason.INVALID_FIELD, "/data", "n9")


@pytest.mark.parametrize(
    ("value", "reason", "dead"),
    [
        (b"\xff\xfe\x00", Reason.UNDECODABLE, True),
        (b"", Reason.UNDECODABLE, True),
        (GOOD.replace(b"n1", b"n\xff"), Reason.UNDECODABLE, True),
        (b"{", Reason.INVALID_JSON, False),
        (GOOD + b" x", Reason.INVALID_JSON, False),
        (b"[1]", Reason.INVALID_JSON, False),
        (b'"text"', Reason.INVALID_JSON, False),
        (GOOD.replace(b"{}", rb'{"a":"\ud83d"}'), Reason.INVALID_JSON, False),
        (GOOD.replace(b"{}", rb'{"a":"\ude00"}'), Reason.INVALID_JSON, False),
        (GOOD.replace(b"{}", rb'{"\ud83dx":1}'), Reason.INVALID_JSON, False),
        (GOOD.replace(b"{}", b'{"a":NaN}'), Reason.INVALID_JSON, False),
        (GOOD.replace(b"{}", b'{"a":1e400}'), Reason.INVALID_FIELD, False),
        (GOOD.replace(b"{}", b'{"a":' + b"[" * 300 + b"]" * 300 + b"}"), Reason.INVALID_JSON, False),
        (GOOD.replace(b"{}", b'{"a":' + b"[" * 200_000), Reason.INVALID_JSON, False),
        (GOOD.replace(b"{}", b'{"a":"' + b"x" * 2_000_000 + b'"}'), Reason.TOO_LARGE, False),
    ],
)
def test_what_nobody_can_read_says_so(value: bytes, reason: Reason, dead: bool) -> None:
    """Bytes that are no text go to the dead letters, all other to `rejected` (REB-02, TPL-11)."""
    found = refused(read(value))
    assert (found.reason, found.dead_letter) == (reason, dead)


def test_a_tombstone_is_no_event() -> None:
    """A record without a value is put aside."""
    found = refused(read(b""))
    assert found.reason is Reason.UNDECODABLE


def test_many_flat_brackets_are_no_depth() -> None:
    """Only nesting is bounded, not the number of objects."""
    assert isinstance(read(event(data={"items": [{"a": [1]} for _ in range(100)]})), Request)


def test_no_key_belongs_to_nobody() -> None:
    """An empty key is refused before anything is read."""
    assert refused(read(GOOD, key=b"", partition=0)).reason is Reason.EMPTY_KEY


def test_a_key_that_is_no_text_is_put_aside() -> None:
    """A binary key can match no user."""
    found = refused(read(GOOD, key=b"\xff\xfe"))
    assert (found.reason, found.dead_letter) == (Reason.UNDECODABLE, True)


@pytest.mark.parametrize("name", [" ", "7", "café", "cafe\u0301", "u/../1", "🙂", "U1", "x" * 128, "রহিম"])
def test_odd_user_ids_are_users(name: str) -> None:
    """Anything without controls up to 128 characters, never folded or normalised (X-01)."""
    found = read(event(user_id=name), key=name.encode())
    assert isinstance(found, Request)
    assert found.notification.user_id == name


@pytest.mark.parametrize("name", ["a\0b", "a\nb", "\x7f", "a\u0085", "x" * 129])
def test_user_ids_with_controls_are_refused(name: str) -> None:
    """Controls and endless ids are refused (X-01)."""
    found = refused(read(event(user_id=name), key=name.encode()))
    assert (found.reason, found.pointer) == (Reason.INVALID_FIELD, "/user_id")


def test_a_record_on_the_wrong_partition_goes_home_unread() -> None:
    """Whatever is in it: its key decides, and its origin becomes its identity."""
    home = partition_of(b"u1", PARTITIONS)
    found = read(b"not json", partition=(home + 1) % PARTITIONS, offset=42)
    assert found == Foreign(home, f"{TOPIC.full_name}/{(home + 1) % PARTITIONS}/42")


def test_two_copies_of_a_rekeyed_record_are_one_source() -> None:
    """The origin travels in a header and replaces the offset."""
    headers = [("other", b"x"), (ORIGIN_HEADER, b"harkara.ingest.bulk/3/42")]
    first, second = (read(GOOD, offset=offset, headers=headers) for offset in (8, 9))
    assert isinstance(first, Request)
    assert isinstance(second, Request)
    assert first.source == second.source == Source(TOPIC.number, "harkara.ingest.bulk/3/42")
    assert (first.src_offset, second.src_offset) == (8, 9)


def test_a_request_knows_where_it_came_from() -> None:
    """Its source is topic and offset, its lane the type's, not the topic's (R-055)."""
    found = request("offer")
    assert (found.source, found.src_offset) == (Source(INGEST[Lane.TRANSACTIONAL].number, 7), 7)
    assert found.lane is Lane.BULK


def test_the_idempotency_key_is_the_identity() -> None:
    """Else the notification id is; an id is derived for an event that brought only a key."""
    keyed, named = request(notification_id="", idempotency_key="k1"), request()
    both = request(idempotency_key="k1")
    assert (keyed.dedup_key, keyed.notification_id) == ("k1", notification_id("default", "k1"))
    assert (named.dedup_key, named.notification_id) == ("n1", "n1")
    assert (both.dedup_key, both.notification_id) == ("k1", "n1")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False) | st.text(st.characters(codec="utf-8"), max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)  # fmt: skip


@given(data=st.dictionaries(st.text(max_size=5), json_values, max_size=4), seed=st.integers(0, 99))
def test_the_same_body_is_recognised_in_any_spelling(data: dict[str, Any], seed: int) -> None:
    """Order of keys, white space, trace and source make no other body (design: deduplication)."""

    def shuffled(value: Any) -> Any:
        if isinstance(value, dict):
            names = list(value)
            random.Random(seed).shuffle(names)
            return {name: shuffled(value[name]) for name in names}
        return [shuffled(item) for item in value] if isinstance(value, list) else value

    plain = read(event(data=data))
    made = shuffled(event(data=data)) | {"trace": f"t{seed}", "source": f"s{seed}"}
    spaced = read(msgspec.json.format(msgspec.json.encode(made), indent=3))
    assert isinstance(plain, Request)
    assert isinstance(spaced, Request)
    assert plain.body == spaced.body


@pytest.mark.parametrize(
    "more",
    [
        {"type": "otp"},
        {"data": {"a": 1}},
        {"channels": ["push"]},
        {"send_at": NOON},
        {"expires_at": NOON},
        {"locale": "en"},
        {"campaign_id": "c"},
        {"notification_id": "n2"},
    ],
)
def test_another_body_is_another_body(more: dict[str, Any]) -> None:
    """A key that comes back with anything else changed can be told from a repeat (R-030)."""
    assert request(idempotency_key="k", **more).body != request(idempotency_key="k").body


def test_life_ends_with_the_type_s_time_or_earlier() -> None:
    """It runs from the creation, or from the instant asked for; a producer can only shorten it (R-189)."""
    day3 = 3 * DAY
    assert request().expires_at_ms(NOON) == NOON + day3
    assert request(created_at=NOON - DAY).expires_at_ms(NOON) == NOON + 2 * DAY
    assert request(created_at=NOON + DAY).expires_at_ms(NOON) == NOON + day3  # a clock that runs ahead
    assert request(send_at=NOON + DAY).expires_at_ms(NOON) == NOON + DAY + day3
    assert request(expires_at=NOON + 5).expires_at_ms(NOON) == NOON + 5
    assert request(expires_at=NOON + 9 * DAY).expires_at_ms(NOON) == NOON + day3


@given(st.binary(max_size=200))
def test_no_bytes_raise(value: bytes) -> None:
    """Whatever lies in a topic is answered by a value."""
    assert isinstance(read(value), Request | Unfit)


@given(st.dictionaries(st.sampled_from([*event(), "send_at", "address", "channels"]), json_values))
def test_no_fields_raise(fields: dict[str, Any]) -> None:
    """Fields of any shape neither."""
    found = read(event(**fields))
    assert isinstance(found, Request | Unfit)


def test_the_largest_record_is_still_read() -> None:
    """256 KiB exactly."""
    room = MAX_BYTES - len(msgspec.json.encode(event(data={"a": ""})))
    assert isinstance(read(event(data={"a": "x" * room})), Request)
    assert refused(read(event(data={"a": "x" * (room + 1)}))).reason is Reason.TOO_LARGE
