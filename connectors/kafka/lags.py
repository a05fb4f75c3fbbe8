"""How far each consumer group is behind the topics it reads."""

from collections.abc import Mapping, Sequence

from connectors.kafka.scan import Scan
from streams.topics import Topic


class Lags:
    """Asks the broker, as operators do: what is committed against what is there."""

    def __init__(self, bootstrap: str, groups: Mapping[str, Sequence[Topic]]) -> None:
        """`groups`: consumer group -> the topics it reads."""
        self._scan = Scan(bootstrap)
        self._places = {
            group: self._scan.places([topic.full_name for topic in topics])
            for group, topics in groups.items()
        }

    def measure(self) -> dict[str, int]:
        """Return records that are not committed yet, by group."""
        committed = {group: self._scan.committed(group) for group in self._places}
        everything = [place for places in self._places.values() for place in places]
        starts, ends = self._scan.starts(everything), self._scan.ends(everything)
        return {
            group: sum(max(0, ends[place] - committed[group].get(place, starts[place])) for place in places)
            for group, places in self._places.items()
        }
