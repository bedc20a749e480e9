"""SCRAM's arithmetic (RFC 5802 section 3) and the credential a server keeps.

A credential is salt, iteration count, StoredKey and ServerKey; from these nobody can compute the
password or pass for the user. Its text form is the one Kafka stores below /config/users:
`salt=…,stored_key=…,server_key=…,iterations=…`, binary parts in base64.
"""

import base64
import hashlib
import hmac
from dataclasses import dataclass, field
from typing import Self

MIN_ITERATIONS = 4096
MAX_ITERATIONS = 1_000_000
"""More would let a hostile server keep a client busy for hours (and a client a server)."""


@dataclass(frozen=True, slots=True)
class ScramHash:
    """One of the two mechanisms: its name in SASL, its hash in Python."""

    mechanism: str
    hash_name: str
    size: int

    def hmac(self, key: bytes, message: bytes) -> bytes:
        return hmac.digest(key, message, self.hash_name)

    def digest(self, data: bytes) -> bytes:
        return hashlib.new(self.hash_name, data).digest()

    def salted_password(self, password: str, salt: bytes, iterations: int) -> bytes:
        """The slow part, `Hi` in the RFC: some milliseconds at 4096 rounds."""
        # Its tables take a while to load, and a broker does not need them to start.
        from barnabas.security.saslprep import saslprep

        prepared = saslprep(password).encode()
        return hashlib.pbkdf2_hmac(self.hash_name, prepared, salt, iterations)

    def client_key(self, salted_password: bytes) -> bytes:
        return self.hmac(salted_password, b"Client Key")

    def server_key(self, salted_password: bytes) -> bytes:
        return self.hmac(salted_password, b"Server Key")


SCRAM_SHA_256 = ScramHash("SCRAM-SHA-256", "sha256", 32)
SCRAM_SHA_512 = ScramHash("SCRAM-SHA-512", "sha512", 64)
SCRAM_HASHES = {item.mechanism: item for item in (SCRAM_SHA_256, SCRAM_SHA_512)}


@dataclass(frozen=True, slots=True)
class ScramCredential:
    """What the server keeps of a password."""

    salt: bytes = field(repr=False)
    stored_key: bytes = field(repr=False)
    server_key: bytes = field(repr=False)
    iterations: int = MIN_ITERATIONS

    @classmethod
    def from_password(
        cls, scram: ScramHash, password: str, salt: bytes, iterations: int = MIN_ITERATIONS
    ) -> Self:
        """Make one; the salt must be fresh random bytes."""
        check_iterations(iterations)
        salted = scram.salted_password(password, salt, iterations)
        return cls.from_salted_password(scram, salted, salt, iterations)

    @classmethod
    def from_salted_password(
        cls, scram: ScramHash, salted_password: bytes, salt: bytes, iterations: int
    ) -> Self:
        """Make one from what AlterUserScramCredentials carries."""
        check_iterations(iterations)
        stored_key = scram.digest(scram.client_key(salted_password))
        return cls(salt, stored_key, scram.server_key(salted_password), iterations)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read the stored form; ValueError, without a word of the content, for anything else."""
        fields = dict(part.split("=", 1) for part in text.split(",") if "=" in part)
        try:
            salt, stored, server = (
                base64.b64decode(fields[name], validate=True)
                for name in ("salt", "stored_key", "server_key")
            )
            iterations = int(fields["iterations"])
        except (KeyError, ValueError):
            raise ValueError("not a stored SCRAM credential") from None
        return cls(salt, stored, server, iterations)

    def render(self) -> str:
        """The stored form."""
        salt, stored, server = (
            base64.b64encode(part).decode()
            for part in (self.salt, self.stored_key, self.server_key)
        )
        return f"salt={salt},stored_key={stored},server_key={server},iterations={self.iterations}"


def check_iterations(iterations: int) -> None:
    """ValueError unless the count is safe for both sides."""
    if not MIN_ITERATIONS <= iterations <= MAX_ITERATIONS:
        raise ValueError(
            f"SCRAM iterations must be {MIN_ITERATIONS} to {MAX_ITERATIONS}, not {iterations}"
        )


def xor(left: bytes, right: bytes) -> bytes:
    """Of equal length."""
    return bytes(a ^ b for a, b in zip(left, right, strict=True))
