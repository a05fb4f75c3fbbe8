"""What is asked about: a user, a key, or an id; grows by the ids that are found on the way."""

from dataclasses import dataclass, field

from streams.ids import key_hash, notification_id


@dataclass
class Asked:
    """Recognises records of the messages that a question is about."""

    user: str = ""
    key: str = ""
    tenant: str = "default"
    ids: set[str] = field(default_factory=set)  # of notifications and deliveries
    partition: int | None = None  # where the user's state lies, once that is known

    @staticmethod
    def by_user(user: str) -> "Asked":
        """Ask about everything of a user."""
        return Asked(user=user)

    @staticmethod
    def by_key(tenant: str, key: str) -> "Asked":
        """Ask about one event by its idempotency key.

        An event that brought no other id got one derived from its key; one that brought only an id
        has that for a key.
        """
        return Asked(key=key, tenant=tenant, ids={key, notification_id(tenant, key)})

    @staticmethod
    def by_id(one: str) -> "Asked":
        """Ask about a notification or a delivery."""
        return Asked(ids={one})

    def is_about(self, user: str, *ids: str, key: str = "") -> bool:
        """Whether a record with this user and these ids belongs to the question."""
        if self.whole_user:
            return user == self.user
        return any(one in self.ids for one in ids) or bool(self.key and key == self.key)

    @property
    def whole_user(self) -> bool:
        """Whether all of a user's messages are asked for, not one."""
        return bool(self.user) and not self.key and not self.ids

    @property
    def hash(self) -> bytes | None:
        """The key's place among a user's first results, when one is asked for."""
        return key_hash(self.tenant, self.key) if self.key else None

    @property
    def needles(self) -> tuple[bytes, ...]:
        """What the bytes of any record about it contain."""
        texts = (self.user,) if self.whole_user else (self.key, *self.ids)
        return tuple(text.encode() for text in texts if text)
