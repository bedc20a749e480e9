"""SCRAM credentials for unknown users, made to look like those of real ones.

A client sees salt and iteration count of any user name before it proves anything. An unknown name
therefore gets a credential that is always the same for the name and has the form of the stored
ones: iteration count, salt length and alphabet are drawn, by the name, from the forms in use.
"""

import hashlib
import hmac
import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from barnabas.security.scram_keys import ScramCredential, ScramHash

_KAFKA_SALT = re.compile(rb"[0-9a-z]{22,26}")
_KAFKA_SALT_BITS = 130
_BASE_36 = "0123456789abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class CredentialForm:
    """The visible form of a credential."""

    iterations: int
    salt_bytes: int | None
    """None for salts as Kafka's tools make them: a random number of 130 bits in base 36."""

    @classmethod
    def of(cls, credential: ScramCredential) -> "CredentialForm":
        by_kafka = _KAFKA_SALT.fullmatch(credential.salt) is not None
        return cls(credential.iterations, None if by_kafka else len(credential.salt))

    def salt(self, stream: bytes) -> bytes:
        """A salt of this form from pseudo-random bytes."""
        if self.salt_bytes is not None:
            return stream[: self.salt_bytes]
        number = int.from_bytes(stream[:17]) >> (17 * 8 - _KAFKA_SALT_BITS)
        return _base_36(number).encode()


DEFAULT_FORM = CredentialForm(8192, 24)
"""Without any stored user: the form that this project's own tools make."""


class DecoyCredentials:
    """The credentials of unknown users of one mechanism.

    `secret` is the same on every broker of the cluster and survives restarts: a salt that differs
    between brokers would betray an unknown user. The work per call does not depend on the name.
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
        """The credential that answers for `user`; no password fits it."""
        seed = hmac.digest(self._secret, f"{self._scram.mechanism}:{user}".encode(), "sha512")
        form = self._form_for(seed)
        length = max(form.salt_bytes or 0, 17)
        salt = form.salt(hashlib.shake_256(b"salt" + seed).digest(length))
        key = hashlib.shake_256(b"key" + seed).digest(self._scram.size)
        return ScramCredential(salt, key, key, form.iterations)

    def _form_for(self, seed: bytes) -> CredentialForm:
        """Weighted rendezvous hashing: forms come up as often as among stored users, and a new
        user changes the form of as few names as possible.
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
