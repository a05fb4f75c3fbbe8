"""Profiles: commands build what we know of a user, and reach what is already queued."""

from dataclasses import dataclass

from msgspec import DecodeError, ValidationError

from agents.poison import PoisonGuard
from agents.router.admission import ROLE
from connectors.kafka.block import Block, Record, Writes
from streams.policy.profile import apply, consent_of, stops_of
from streams.reasons import Reason
from streams.records.codec import pointer_of, read_profile_command, to_json
from streams.records.profile_command import ProfileCommand
from streams.records.rejection import Rejection
from streams.records.state import Profile
from streams.records.unfit import Unfit
from streams.topics import CONSENT, STOPS
from tables.preferences import Preferences


@dataclass(frozen=True)
class Learning:
    """Applies profile commands, each once; a replay changes nothing but says its stops again."""

    preferences: Preferences
    tenant: str
    poison: PoisonGuard

    def learn(self, block: Block, now_ms: int) -> Writes:
        """All that these commands change and emit."""
        writes = Writes(block.partition)
        keys = list(dict.fromkeys(record.key for record in block if record.key))
        profiles = self.preferences.of_many(block.partition, keys) if keys else {}
        changed: dict[bytes, Profile] = {}
        bad = 0
        for record in block:
            try:
                unfit = self._one(writes, record, profiles, changed)
            except Exception as error:
                bad += 1
                unfit = Unfit(Reason.POISON, "", type(error).__name__, dead_letter=True)
            if unfit is not None:
                self._refuse(writes, record, unfit, now_ms)
        for user, profile in changed.items():
            self.preferences.save(writes, user, profile)
        self.poison.note(now_ms, len(block), bad)
        return writes

    def _one(
        self,
        writes: Writes,
        record: Record,
        profiles: dict[bytes, Profile | None],
        changed: dict[bytes, Profile],
    ) -> Unfit | None:
        command = _read(record)
        if isinstance(command, Unfit):
            return command
        user = record.key or b""
        profile = apply(profiles[user] or Profile(), command, record.offset)
        if isinstance(profile, Unfit):
            return profile
        for stop in stops_of(command):
            writes.emit(STOPS, user, to_json(stop))
        entry = consent_of(command, record.partition, record.offset)
        if entry is not None:
            writes.emit(CONSENT, user, to_json(entry))
        profiles[user] = changed[user] = profile
        return None

    def _refuse(self, writes: Writes, record: Record, unfit: Unfit, now_ms: int) -> None:
        rejection = Rejection(
            unfit.reason, unfit.pointer, unfit.detail, self.tenant, "", "",
            record.topic, record.partition, record.offset, now_ms,
        )  # fmt: skip
        writes.set_aside(record, unfit, ROLE, now_ms, rejection)


def _read(record: Record) -> ProfileCommand | Unfit:
    if not record.key:
        return Unfit(Reason.EMPTY_KEY, "", "the record's key must be the user id")
    try:
        command = read_profile_command(record.value or b"")
    except ValidationError as error:
        return Unfit(Reason.BAD_COMMAND, pointer_of(error), str(error).partition(" - at ")[0])
    except (DecodeError, UnicodeDecodeError):
        return Unfit(Reason.UNDECODABLE, "", "not a JSON object in UTF-8", dead_letter=True)
    if command.user_id.encode() != record.key:
        return Unfit(Reason.KEY_MISMATCH, "/user_id", "record key and user_id differ")
    return command
