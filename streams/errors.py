"""The few exceptions of the project: each one ends the process, and nothing is lost by that.

A provider's "no" or a bad event is never an exception: those are values
(`streams.outcomes`, `streams.records.unfit`).
"""


class HarkaraError(Exception):
    """Base of all errors that are shown to a person in one line."""


class SettingError(HarkaraError):
    """A setting cannot work; names it and says how to mend it."""

    def __init__(self, name: str, mend: str) -> None:
        super().__init__(f"{name}: {mend}")
        self.name = name
        self.mend = mend


class DeliveryFailed(HarkaraError):
    """Kafka refused or did not confirm a record, so its source must be read again."""


class OffsetGap(HarkaraError):
    """Records are missing, or came twice, between what was read and what comes now."""


class LostOwnership(HarkaraError):
    """The group may have given our partitions to somebody else."""


class StateTooNew(HarkaraError):
    """Stored state was written by a newer release than this one."""


class TransportChanged(HarkaraError):
    """A private name of Faust or aiokafka that we override no longer exists."""
