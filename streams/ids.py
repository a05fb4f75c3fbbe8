"""Ids that a replay derives again, and jitter that a replay repeats."""

from functools import lru_cache
from hashlib import blake2b, sha1
from uuid import UUID

import xxhash

_NAMESPACE = UUID("6f1d0c1e-52a7-5b0e-9d5e-0f2a6b7c8d90").bytes
_VARIANT = {digit: "89ab"[int(digit, 16) & 3] for digit in "0123456789abcdef"}


def delivery_id(
    tenant: str, user_id: str, notification_id: str, step: int, channel: str, endpoint: str
) -> str:
    """Return the id of one delivery: the same for every replay, re-key and retry (R-064).

    One delivery an endpoint: a user with two phones has two. Two users never share one, not even
    when a producer gives both the same notification id (DED-02).
    """
    return _uuid5("\x1f".join((tenant, user_id, notification_id, str(step), channel, endpoint)))


def notification_id(tenant: str, idempotency_key: str) -> str:
    """Return the notification id of an event that brought only an idempotency key."""
    return _uuid5(f"key\x1f{tenant}\x1f{idempotency_key}")


def _uuid5(name: str) -> str:
    """Return `str(uuid.uuid5(namespace, name))`, in a third of its time."""
    digits = sha1(_NAMESPACE + name.encode(), usedforsecurity=False).hexdigest()
    variant = _VARIANT[digits[16]]
    return f"{digits[:8]}-{digits[8:12]}-5{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:32]}"


def row_id(delivery: str, attempt: int, due_ms: int) -> str:
    """Return the schedule's row id for a delivery that waits until `due_ms` before attempt `attempt`."""
    return f"{delivery}.{attempt}.{due_ms}"


def key_hash(tenant: str, key: str) -> bytes:
    """Return 16 bytes that stand for a deduplication key inside one user's rows."""
    return xxhash.xxh3_128_digest(f"{tenant}\x1f{key}".encode())


def body_hash(body: bytes) -> int:
    """Return a 63-bit fingerprint of a request's body (to tell a repeat from a reused key)."""
    return xxhash.xxh3_64_intdigest(body) >> 1


def spread(seed: str, bound: int) -> int:
    """Return a whole number in [0, bound) that looks random and is always the same for `seed`."""
    return xxhash.xxh3_64_intdigest(seed.encode()) % bound if bound > 0 else 0


def address_hash(secret: bytes, value: str) -> int:
    """Return a keyed 64-bit hash for analytics: equal values stay countable, nobody can be read back.

    BLAKE2 with a key, not a fast hash of key and value: those can be guessed back from their output.
    """
    key = secret if len(secret) <= blake2b.MAX_KEY_SIZE else blake2b(secret).digest()
    return int.from_bytes(blake2b(value.encode(), key=key, digest_size=8).digest(), "big")


_M32 = 0xFFFFFFFF


@lru_cache(maxsize=200_000)
def partition_of(key: bytes, partitions: int) -> int:
    """Return the partition Kafka's own (Java) clients choose for `key`: murmur2, sign dropped."""
    return (murmur2(key) & 0x7FFFFFFF) % partitions


def murmur2(data: bytes) -> int:
    """Return Kafka's 32-bit murmur2 of `data` (seed 0x9747b28c), as an unsigned number."""
    length = len(data)
    h = (0x9747B28C ^ length) & _M32
    whole = length & ~3
    for i in range(0, whole, 4):
        k = int.from_bytes(data[i : i + 4], "little")
        k = (k * 0x5BD1E995) & _M32
        k ^= k >> 24
        k = (k * 0x5BD1E995) & _M32
        h = ((h * 0x5BD1E995) & _M32) ^ k
    rest = length & 3
    if rest:
        h ^= int.from_bytes(data[whole:], "little")
        h = (h * 0x5BD1E995) & _M32
    h ^= h >> 13
    h = (h * 0x5BD1E995) & _M32
    return h ^ (h >> 15)
