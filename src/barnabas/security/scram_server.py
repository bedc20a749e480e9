"""The server's side of SCRAM: two tokens in, two out, and then it knows the user.

An unknown user gets the same number of steps, the same work and an answer of the same form
(`scram_decoys`); it fails at the end like a wrong password.
"""

import enum
import hmac
from collections.abc import Callable

from barnabas.security.errors import AuthenticationError
from barnabas.security.mechanism import ServerStep
from barnabas.security.saslprep import saslprep
from barnabas.security.scram_keys import ScramCredential, ScramHash, xor
from barnabas.security.scram_messages import (
    ClientFirst,
    parse_client_final,
    parse_client_first,
    render_base64,
)

CredentialLookup = Callable[[str], ScramCredential | None]
DecoyLookup = Callable[[str], ScramCredential]


class _State(enum.Enum):
    FIRST = enum.auto()
    FINAL = enum.auto()
    OVER = enum.auto()


class ScramServer:
    """One exchange. `nonce` is fresh and random; `decoy` makes the credentials that answer for
    unknown users."""

    __slots__ = (
        "_auth_prefix",
        "_credential",
        "_decoy",
        "_first",
        "_lookup",
        "_nonce",
        "_scram",
        "_state",
        "_user_known",
    )

    def __init__(
        self, scram: ScramHash, lookup: CredentialLookup, nonce: str, decoy: DecoyLookup
    ) -> None:
        self._scram = scram
        self._lookup = lookup
        self._nonce = nonce
        self._decoy = decoy
        self._state = _State.FIRST
        self._first: ClientFirst | None = None
        self._credential: ScramCredential | None = None
        self._user_known = False
        self._auth_prefix = ""

    def step(self, token: bytes) -> ServerStep:
        state, self._state = self._state, _State.OVER
        if state is _State.FIRST:
            answer = self._take_first(parse_client_first(token))
            self._state = _State.FINAL
            return answer
        if state is _State.FINAL:
            return self._take_final(token)
        raise AuthenticationError("a SCRAM token after the end of the exchange")

    def _take_first(self, first: ClientFirst) -> ServerStep:
        user = _prepared(first.user)
        if first.authzid and first.authzid != first.user:
            raise AuthenticationError("a SCRAM message that asks to act for another user")
        if first.extensions.get("tokenauth", "false") == "true":
            raise AuthenticationError("a SCRAM login with a delegation token: not served")
        known = self._lookup(user)
        self._user_known = known is not None
        decoy = self._decoy(user)  # also for known users: both cost the same time
        credential = decoy if known is None else known
        nonce = first.nonce + self._nonce
        salt = render_base64(credential.salt)
        answer = f"r={nonce},s={salt},i={credential.iterations}"
        self._first, self._credential = first, credential
        self._auth_prefix = f"{first.bare},{answer}"
        return ServerStep(answer.encode())

    def _take_final(self, token: bytes) -> ServerStep:
        first, credential = self._first, self._credential
        assert first is not None
        assert credential is not None
        final = parse_client_final(token)
        # The whole nonce must be ours, not only its end (CVE-2024-56128).
        if not hmac.compare_digest(final.nonce, first.nonce + self._nonce):
            raise AuthenticationError("a SCRAM client-final message with another nonce")
        if final.channel_binding != first.gs2_header.encode():
            raise AuthenticationError("a SCRAM client-final message with another header")
        message = f"{self._auth_prefix},{final.without_proof}".encode()
        if not self._proves(credential, message, final.proof) or not self._user_known:
            raise AuthenticationError("wrong user name or password")
        signature = self._scram.hmac(credential.server_key, message)
        return ServerStep(f"v={render_base64(signature)}".encode(), _prepared(first.user))

    def _proves(self, credential: ScramCredential, message: bytes, proof: bytes) -> bool:
        if len(proof) != self._scram.size:
            return False
        client_key = xor(proof, self._scram.hmac(credential.stored_key, message))
        return hmac.compare_digest(self._scram.digest(client_key), credential.stored_key)


def _prepared(user: str) -> str:
    try:
        return saslprep(user)
    except ValueError:
        raise AuthenticationError("a user name with forbidden characters") from None
