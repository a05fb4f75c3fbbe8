"""Source coordinates as one number each: an audit keeps many of them."""

from streams.topics import BY_NAME, TOPICS

_OFFSET_BITS = 44
_PARTITION_BITS = 14
_NAMES = {topic.number: topic.full_name for topic in TOPICS}


def coordinate(topic: int, partition: int, offset: int) -> int:
    """Pack a topic's wire number, a partition and an offset."""
    return (topic << _PARTITION_BITS | partition) << _OFFSET_BITS | offset


def unpacked(packed: int) -> tuple[int, int, int]:
    """Return wire number, partition and offset."""
    place = packed >> _OFFSET_BITS
    return place >> _PARTITION_BITS, place & ((1 << _PARTITION_BITS) - 1), packed & ((1 << _OFFSET_BITS) - 1)


def origin(text: str) -> int | None:
    """Pack a re-keyed record's "topic/partition/offset"; None when it is none."""
    topic, *numbers = text.rsplit("/", 2)
    if topic not in BY_NAME or len(numbers) != 2 or not all(number.isdecimal() for number in numbers):
        return None
    return coordinate(BY_NAME[topic].number, int(numbers[0]), int(numbers[1]))


def shown(packed: int) -> str:
    """Return the coordinates as people write them."""
    number, partition, offset = unpacked(packed)
    return f"{_NAMES.get(number, number)}/{partition}/{offset}"
