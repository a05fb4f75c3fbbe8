"""Missing records and records that come again are never passed over in silence."""

import pytest

from connectors.kafka.gaps import check_committed, check_next, check_passed
from streams.errors import OffsetGap

TP = ("topic", 3)


def test_an_offset_inside_the_log_is_fine() -> None:
    """Committed at the start, at the end, or never."""
    check_committed({TP: 5, ("topic", 4): 9, ("topic", 5): None}, {TP: 5}, {TP: 5, ("topic", 4): 9})


def test_an_offset_below_the_log_names_the_way_out() -> None:
    """Records expired unread: the message says where to go on without them."""
    with pytest.raises(OffsetGap, match=r"topic/3: offset 5 is below .* expired unread; .* offset to 8"):
        check_committed({TP: 5}, {TP: 8}, {TP: 20})


def test_an_offset_beyond_the_log_names_the_way_out() -> None:
    """The topic was made anew: going on from its start must be somebody's decision."""
    with pytest.raises(OffsetGap, match=r"committed offset 50 is beyond .* end 20: .* between 8 and 20"):
        check_committed({TP: 50}, {TP: 8}, {TP: 20})


def test_the_first_block_may_start_anywhere() -> None:
    """A group without commits has no expectation."""
    check_next(TP, None, 500, gapless=True, start=None)


def test_the_expected_offset_is_fine() -> None:
    """The ordinary case."""
    check_next(TP, 7, 7, gapless=True, start=None)


@pytest.mark.parametrize("gapless", [True, False])
def test_records_that_come_again_are_refused(gapless: bool) -> None:
    """A log that was cut and written anew must not be taken for news."""
    with pytest.raises(OffsetGap, match="offset 6 came again, expected 7"):
        check_next(TP, 7, 6, gapless=gapless, start=None)


def test_a_gap_in_a_gapless_topic_is_a_loss() -> None:
    """Only we write there, without transactions."""
    with pytest.raises(OffsetGap, match=r"offsets 7\.\.8 are missing"):
        check_next(TP, 7, 9, gapless=True, start=0)


def test_a_gap_in_a_public_topic_is_legal_inside_the_log() -> None:
    """A transaction's end takes an offset, an aborted one takes many."""
    check_next(TP, 7, 9, gapless=False, start=7)


def test_a_gap_in_a_public_topic_is_a_loss_where_the_log_was_trimmed() -> None:
    """Retention took records that we had not read yet."""
    with pytest.raises(OffsetGap, match="offset 7 is below the log's start 9: records expired unread"):
        check_next(TP, 7, 9, gapless=False, start=9)


def test_a_gap_at_the_end_of_a_gapless_topic_is_a_loss() -> None:
    """A reader that passed offsets for which no record came would else commit them one day."""
    check_passed(TP, None, 9)
    check_passed(TP, 9, 9)
    with pytest.raises(OffsetGap, match=r"offsets 7\.\.8 are missing"):
        check_passed(TP, 7, 9)
