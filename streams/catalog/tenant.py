"""Who sends: a business with its own users, zone and language."""

from dataclasses import dataclass

#: Owns `harkara.ingest.*`.
DEFAULT_TENANT = "default"


@dataclass(frozen=True, slots=True)
class Tenant:
    """What holds for users who said nothing else."""

    name: str
    zone: str  # IANA
    locale: str  # BCP 47
