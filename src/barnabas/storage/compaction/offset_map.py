"""From a key to the newest offset that has it, over the dirty part of a log.

Keys are held as 16-byte digests, so memory does not depend on how long they are. The digest is
keyed with fresh random bytes per pass: nobody can choose two keys that collide and so have
somebody else's record compacted away.
"""

import secrets
from hashlib import blake2b

_DIGEST_BYTES = 16
ENTRY_BYTES = 170
"""What an entry costs in a dict of small bytes to ints, roughly; for sizing."""


class OffsetMap:
    """Owned by one cleaning pass."""

    __slots__ = ("_capacity", "_offsets", "_salt", "latest_offset")

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._offsets: dict[bytes, int] = {}
        self._salt = secrets.token_bytes(16)
        self.latest_offset = -1
        """Everything up to here has been taken into account."""

    def __len__(self) -> int:
        return len(self._offsets)

    def try_put(self, key: bytes, offset: int) -> bool:
        """Note that `offset` has this key; False when the key is new and there is no room."""
        digest = self._digest(key)
        if digest not in self._offsets and len(self._offsets) >= self._capacity:
            return False
        self._offsets[digest] = offset
        return True

    def get(self, key: bytes) -> int:
        """The newest offset of a key in the dirty part, -1 if it does not occur there."""
        return self._offsets.get(self._digest(key), -1)

    def _digest(self, key: bytes) -> bytes:
        return blake2b(key, digest_size=_DIGEST_BYTES, key=self._salt).digest()
