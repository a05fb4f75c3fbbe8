from pathlib import Path

from msgspec import structs

from connectors.simulator.entry import Counts, Entry
from connectors.simulator.ledger import Ledger

PLAIN = Entry(
    seq=0,
    provider="fcm",
    address="token-1",
    delivery_id="d-1",
    arrival=0,
    attempt_key="",
    at_ms=1_796_000_000_000,
    accepted=True,
    answer="200",
    message_id="m-1",
    text_hash="0",
    text="অর্ডার ৭\nis on its way",
)


def entry(delivery_id: str = "d-1", **fields: object) -> Entry:
    """Return an accepted push, but for these fields."""
    return structs.replace(PLAIN, delivery_id=delivery_id, **fields)


def a_ledger(folder: Path) -> Ledger:
    """Return a ledger of five calls about three deliveries."""
    ledger = Ledger(folder / "ledger.jsonl")
    ledger.add(entry("d-1"))
    ledger.add(entry("d-2", accepted=False, answer="429 QUOTA_EXCEEDED", message_id=""))
    ledger.add(entry("d-2", address="token-2"))
    ledger.add(entry("d-1"))
    ledger.add(entry("d-3", provider="twilio", address="+8801712345678"))
    return ledger


def test_a_delivery_that_went_out_twice_shows_both_arrivals(tmp_path: Path) -> None:
    """What a user got is never folded into one."""
    ledger = a_ledger(tmp_path)
    assert [(e.seq, e.arrival) for e in ledger.page(delivery_id="d-1").entries] == [(0, 1), (3, 2)]
    assert (ledger.accepted("d-1"), ledger.accepted("d-2"), ledger.accepted("d-9")) == (2, 1, 0)
    assert ledger.repeated() == {"d-1": 2}
    assert ledger.counts() == Counts(calls=5, accepted=4, deliveries=3, repeated=1)


def test_a_restart_keeps_all_of_it(tmp_path: Path) -> None:
    """The file alone is enough, and the numbers go on."""
    before = a_ledger(tmp_path)
    again = Ledger(tmp_path / "ledger.jsonl")  # as after a kill: the first was never closed
    assert again.counts() == before.counts()
    assert again.repeated() == before.repeated()
    assert again.page().entries == before.page().entries
    assert again.add(entry("d-1")).arrival == 3
    assert [e.seq for e in again.page().entries] == [0, 1, 2, 3, 4, 5]


def test_a_torn_last_line_is_dropped(tmp_path: Path) -> None:
    """A call whose entry was cut by a kill was never answered."""
    a_ledger(tmp_path).close()
    path = tmp_path / "ledger.jsonl"
    path.write_bytes(path.read_bytes() + b'{"seq":5,"prov')
    again = Ledger(path)
    assert len(again) == 5
    again.add(entry("d-4"))
    assert Ledger(path).counts().deliveries == 4


def test_pages_follow_each_other_until_the_end(tmp_path: Path) -> None:
    """Each says where the next begins."""
    ledger = a_ledger(tmp_path)
    seqs, after = [], -1
    for _ in range(3):
        page = ledger.page(after, limit=2)
        seqs.append([e.seq for e in page.entries])
        after = -1 if page.after is None else page.after
    assert (seqs, after) == ([[0, 1], [2, 3], [4]], -1)


def test_filters_narrow_a_page(tmp_path: Path) -> None:
    """All given ones must fit."""
    ledger = a_ledger(tmp_path)

    def seqs(**filters: object) -> list[int]:
        return [e.seq for e in ledger.page(**filters).entries]  # type: ignore[arg-type]  # one of each kind

    assert seqs(address="token-1") == [0, 1, 3]
    assert seqs(address="token-1", accepted=False) == [1]
    assert seqs(provider="twilio") == [4]
    assert seqs(delivery_id="d-2", accepted=True) == [2]
    assert seqs(delivery_id="d-9") == []
    assert ledger.page(address="token-1", limit=2).after == 1
    assert seqs(address="token-1", after=1) == [3]


def test_calls_without_a_delivery_are_kept_apart(tmp_path: Path) -> None:
    """Somebody else's messages are no repeats of one another."""
    ledger = Ledger(tmp_path / "ledger.jsonl")
    assert [ledger.add(entry("")).arrival for _ in range(2)] == [1, 1]
    assert ledger.counts() == Counts(calls=2, accepted=2, deliveries=0, repeated=0)


def test_a_reset_forgets_everything(tmp_path: Path) -> None:
    """The next entry is the first again, on disk too."""
    ledger = a_ledger(tmp_path)
    ledger.reset()
    assert ledger.counts() == Counts(0, 0, 0, 0)
    assert ledger.add(entry("d-1")).seq == 0
    assert len(Ledger(tmp_path / "ledger.jsonl")) == 1
