"""A quota in this process alone, for the time in which Valkey does not answer."""

from msgspec.structs import replace

from streams.policy.pace import Limits
from streams.policy.quota import Ask, Lease, Sharing, ask, open_quota


class LocalQuota:
    """The shared quota's policy, never faster than this worker's last share of it.

    All workers' shares together are about the quota, and each one's own 429s cut its part. A
    `share` of 0 means that none was ever given: it starts slowly. `recover_ms` should differ from
    worker to worker, or all would try more at the same moment.
    """

    def __init__(
        self, limits: Limits, sharing: Sharing, share: float, recover_ms: int, now_ms: float
    ) -> None:
        ceiling = share or limits.nominal or limits.ceiling
        self._sharing = sharing
        self._limits = replace(
            limits,
            nominal=share,
            ceiling=ceiling,
            start=min(limits.start, ceiling),
            recover_ms=recover_ms,
        )
        self._quota = open_quota(self._limits, now_ms)

    def ask(self, now_ms: float, wish: Ask) -> Lease:
        """Report and take."""
        self._quota, lease = ask(self._quota, self._limits, self._sharing, now_ms, wish)
        return lease
