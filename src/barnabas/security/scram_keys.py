"""Keys of SCRAM (RFC 5802 section 3), stored credentials, and credentials for unknown users.

A credential is salt, iteration count, StoredKey and ServerKey. It reveals neither the password nor
allows a login. Its text form is the one that Kafka stores below /config/users:
`salt=…,stored_key=…,server_key=…,iterations=…`, binary parts in base64. User names and passwords
are compared in their normal form, SASLprep (RFC 4013).
"""

import base64
import hashlib
import hmac
import math
import re
import stringprep
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Self

# Kafka's minimum, from RFC 7677.
MIN_ITERATIONS = 4096
MAX_ITERATIONS = 1_000_000
"""Limits the time that a malicious peer can make the other side compute."""


@dataclass(frozen=True, slots=True)
class ScramHash:
    """A SCRAM mechanism: its SASL name and the name of its hash in hashlib."""

    mechanism: str
    hash_name: str
    size: int

    def hmac(self, key: bytes, message: bytes) -> bytes:
        return hmac.digest(key, message, self.hash_name)

    def digest(self, data: bytes) -> bytes:
        return hashlib.new(self.hash_name, data).digest()

    def salted_password(self, password: str, salt: bytes, iterations: int) -> bytes:
        """Returns `Hi` of the RFC; takes some milliseconds with 4096 iterations."""
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
    """The credential that a server stores instead of the password."""

    salt: bytes = field(repr=False)
    stored_key: bytes = field(repr=False)
    server_key: bytes = field(repr=False)
    iterations: int = MIN_ITERATIONS

    @classmethod
    def from_password(
        cls, scram: ScramHash, password: str, salt: bytes, iterations: int = MIN_ITERATIONS
    ) -> Self:
        """Creates a credential; the salt must be new random bytes."""
        check_iterations(iterations)
        salted = scram.salted_password(password, salt, iterations)
        return cls.from_salted_password(scram, salted, salt, iterations)

    @classmethod
    def from_salted_password(
        cls, scram: ScramHash, salted_password: bytes, salt: bytes, iterations: int
    ) -> Self:
        """Creates a credential from the values of AlterUserScramCredentials."""
        check_iterations(iterations)
        stored_key = scram.digest(scram.client_key(salted_password))
        return cls(salt, stored_key, scram.server_key(salted_password), iterations)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parses the stored form; raises ValueError without the content."""
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
        """Returns the stored form."""
        salt, stored, server = (
            base64.b64encode(part).decode()
            for part in (self.salt, self.stored_key, self.server_key)
        )
        return f"salt={salt},stored_key={stored},server_key={server},iterations={self.iterations}"


def check_iterations(iterations: int) -> None:
    """Raises ValueError if the iteration count is out of range."""
    if not MIN_ITERATIONS <= iterations <= MAX_ITERATIONS:
        raise ValueError(
            f"SCRAM iterations must be {MIN_ITERATIONS} to {MAX_ITERATIONS}, not {iterations}"
        )


def xor(left: bytes, right: bytes) -> bytes:
    """Returns the bitwise XOR of two byte strings of equal length."""
    return bytes(a ^ b for a, b in zip(left, right, strict=True))


# --- credentials for unknown users ---------------------------------------------------------------


_KAFKA_SALT = re.compile(rb"[0-9a-z]{22,26}")
_KAFKA_SALT_BITS = 130
_BASE_36 = "0123456789abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class CredentialForm:
    """The number of iterations and the kind of salt, which a client sees when it logs in."""

    iterations: int
    salt_bytes: int | None
    """None for salts as Kafka's tools make them: a random number of 130 bits in base 36."""

    @classmethod
    def of(cls, credential: ScramCredential) -> "CredentialForm":
        by_kafka = _KAFKA_SALT.fullmatch(credential.salt) is not None
        return cls(credential.iterations, None if by_kafka else len(credential.salt))

    def salt(self, stream: bytes) -> bytes:
        """Returns a salt of this form, made from pseudo-random bytes."""
        if self.salt_bytes is not None:
            return stream[: self.salt_bytes]
        number = int.from_bytes(stream[:17]) >> (17 * 8 - _KAFKA_SALT_BITS)
        return _base_36(number).encode()


DEFAULT_FORM = CredentialForm(8192, 24)
"""The form that this project's tools create, used while no user is stored."""


class DecoyCredentials:
    """Creates credentials for unknown users of one mechanism.

    A client sees salt and iteration count of a user before it authenticates. An unknown user gets a
    credential that is always the same for the name and has the form of the stored ones: iteration
    count, salt length and alphabet are chosen, by the name, among the forms in use.

    `secret` is the same on every broker of the cluster and survives restarts: a salt that differs
    between brokers would reveal an unknown user. The time per call does not depend on the name.
    """

    def __init__(
        self, scram: ScramHash, secret: bytes, stored: Iterable[ScramCredential] = ()
    ) -> None:
        self._scram = scram
        self._secret = secret
        counts = Counter(CredentialForm.of(credential) for credential in stored)
        self._forms: list[tuple[CredentialForm, int]] = sorted(
            counts.items() or [(DEFAULT_FORM, 1)], key=str
        )

    def credential(self, user: str) -> ScramCredential:
        """Returns the credential for an unknown user; no password matches it."""
        seed = hmac.digest(self._secret, f"{self._scram.mechanism}:{user}".encode(), "sha512")
        form = self._form_for(seed)
        length = max(form.salt_bytes or 0, 17)
        salt = form.salt(hashlib.shake_256(b"salt" + seed).digest(length))
        key = hashlib.shake_256(b"key" + seed).digest(self._scram.size)
        return ScramCredential(salt, key, key, form.iterations)

    def _form_for(self, seed: bytes) -> CredentialForm:
        """Chooses a form by weighted rendezvous hashing.

        Each form is as frequent among unknown users as among stored ones, so the form does not show
        whether a user exists. When a user is added, few unknown names get another form.
        """

        def score(item: tuple[CredentialForm, int]) -> float:
            form, count = item
            digest = hmac.digest(seed, str(form).encode(), "sha256")
            uniform = (int.from_bytes(digest[:6]) + 1) / (2**48 + 1)
            return count / -math.log(uniform)

        return max(self._forms, key=score)[0]


def _base_36(number: int) -> str:
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = _BASE_36[digit] + digits
    return digits or "0"


# --- SASLprep -------------------------------------------------------------------------------------


_PROHIBITED = (
    stringprep.in_table_c12,
    stringprep.in_table_c21_c22,
    stringprep.in_table_c3,
    stringprep.in_table_c4,
    stringprep.in_table_c5,
    stringprep.in_table_c6,
    stringprep.in_table_c7,
    stringprep.in_table_c8,
    stringprep.in_table_c9,
)


def saslprep(text: str) -> str:
    """Returns the normal form; raises ValueError for forbidden characters.

    >>> saslprep("I\\u00adX")
    'IX'
    >>> saslprep("\\u2168")
    'IX'
    """
    if text.isascii() and text.isprintable():
        return text
    mapped = "".join(" " if stringprep.in_table_c12(char) else char for char in text)
    mapped = "".join(char for char in mapped if not stringprep.in_table_b1(char))
    normal = unicodedata.normalize("NFKC", mapped)
    if any(prohibited(char) for char in normal for prohibited in _PROHIBITED):
        raise ValueError("the text contains a character that SASLprep forbids")
    if any(stringprep.in_table_a1(char) for char in normal):
        raise ValueError("the text contains a character that SASLprep does not assign")
    _check_direction(normal)
    return normal


def _check_direction(text: str) -> None:
    """Rejects text that mixes directions (RFC 3454 section 6)."""
    if not any(stringprep.in_table_d1(char) for char in text):
        return
    mixed = any(stringprep.in_table_d2(char) for char in text)
    if mixed or not (stringprep.in_table_d1(text[0]) and stringprep.in_table_d1(text[-1])):
        raise ValueError("the text mixes writing directions")
