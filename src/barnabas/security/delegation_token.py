"""Delegation tokens (KIP-48): credentials with a limited lifetime that a user creates.

A client logs in with SCRAM: the user name is the token id, the password is the HMAC of the token id
in base64, and the first message has the extension `tokenauth=true`. The HMAC is derived from the
brokers' secret key, so it is not stored. The client acts as the owner of the token.
"""

import base64
import hmac
from dataclasses import dataclass, replace

from barnabas.security.principal import Principal
from barnabas.security.scram_keys import MIN_ITERATIONS, ScramCredential, ScramHash

_SALT_BYTES = 24


@dataclass(frozen=True, slots=True)
class TokenInformation:
    """A token without its HMAC. Times are wall-clock time in milliseconds."""

    token_id: str
    owner: Principal
    requester: Principal
    renewers: tuple[Principal, ...]
    issued_ms: int
    max_ms: int
    """Latest expiry time; renewals cannot exceed it."""
    expires_ms: int

    def may_be_changed_by(self, principal: Principal) -> bool:
        """Whether a principal may renew, expire and see the token without further rights."""
        return principal in (self.owner, self.requester, *self.renewers)

    def is_expired(self, now_ms: int) -> bool:
        return now_ms >= self.expires_ms

    def expiring_in(self, period_ms: int, now_ms: int) -> "TokenInformation":
        """Returns the token with another expiry time, at most `max_ms`."""
        return replace(self, expires_ms=min(now_ms + period_ms, self.max_ms))


class TokenKeys:
    """Derives HMACs and SCRAM credentials of tokens from the brokers' secret key.

    All brokers with the same key derive the same credentials.
    """

    def __init__(self, secret: str) -> None:
        self._secret = secret.encode()

    def hmac(self, token_id: str) -> bytes:
        """Returns the secret of a token, as Kafka derives it."""
        return hmac.digest(self._secret, token_id.encode(), "sha512")

    def credential(self, token_id: str, scram: ScramHash) -> ScramCredential:
        """Returns the credential that verifies a login with the token; takes milliseconds."""
        password = base64.b64encode(self.hmac(token_id)).decode()
        salt = self.hmac(f"salt:{scram.mechanism}:{token_id}")[:_SALT_BYTES]
        return ScramCredential.from_password(scram, password, salt, MIN_ITERATIONS)
