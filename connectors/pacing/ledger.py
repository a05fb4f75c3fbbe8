"""What a worker did since it last asked for a lease, and what it will need."""

from connectors.pacing.hand import Hand
from connectors.pacing.quantile import Quantile
from streams.policy.quota import Ask

_SPAN_MS = 250  # over which use is averaged
_AHEAD_S = 0.1  # tokens are fetched for so long ahead
_LOW_S = 0.05  # what lasts shorter than this is too little
_MOST_LOW = 50
_LEAST_USE = 0.5  # a second; less counts as idle, or an average would fade for a minute


class Ledger:
    """Counts, and turns the counts into a report with a wish."""

    def __init__(self, member: str, largest: int) -> None:
        self._member, self._largest = member, largest
        self._at_ms = 0.0
        self._use = [0.0, 0.0, 0.0]  # tokens a second, by lane
        self._rtt = Quantile(0.95)
        self.taken = [0, 0, 0]
        self.missed = [False, False, False]  # taken for, but there was none
        self.low = [0, 0, 0]  # so few in hand, and it is time to ask
        self.returned = self.ok = self.throttled = self.after_ms = 0
        self.restart = False
        self._promised = False  # the last wish named a demand, which is to be taken back one day

    @property
    def has_news(self) -> bool:
        """Whether a report is due though nothing is wished."""
        return self._promised or self.restart or self.ok + self.throttled + self.returned > 0

    def took_ms(self, rtt_ms: float) -> None:
        """Note how long a call took."""
        self._rtt.add(rtt_ms)

    def close(self, hand: Hand, now_ms: float) -> Ask:
        """Return the report and the wish, and begin to count anew."""
        elapsed_ms = max(1.0, now_ms - self._at_ms)
        self._at_ms = now_ms
        wants, demands = [0, 0, 0], [0.0, 0.0, 0.0]
        for lane in range(3):
            use = self._use[lane]
            use += (self.taken[lane] * 1000 / elapsed_ms - use) * min(1.0, elapsed_ms / _SPAN_MS)
            use = use if use >= _LEAST_USE else 0.0
            self._use[lane], self.taken[lane] = use, 0
            waiting = hand.waiting(lane)
            self.low[lane] = min(int(use * _LOW_S), _MOST_LOW)
            wished = max(waiting, int(self.missed[lane])) + int(use * _AHEAD_S + 0.5) - hand.tokens[lane]
            wants[lane] = max(0, min(self._largest, wished))
            demands[lane] = 1.25 * use + waiting / _AHEAD_S
        self.missed = [False, False, False]
        wish = Ask(
            self._member,
            (wants[0], wants[1], wants[2]),
            (demands[0], demands[1], demands[2]),
            self.returned,
            self.ok,
            self.throttled,
            self.after_ms,
            self._rtt.value,
            self.restart,
        )
        self.returned = self.ok = self.throttled = self.after_ms = 0
        self.restart = False
        self._promised = any(demands)
        return wish
