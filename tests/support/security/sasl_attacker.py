"""A client of one connection's `SaslServer` that follows the protocol or violates it.

It knows the right password of one user, a wrong one, and every token it has ever seen. What it
achieves is compared with what it may: the connection is authenticated if and only if the latest
handshake was followed by an honest exchange, to its end, and by nothing else.
"""

import functools
import hashlib
import itertools
import random
from typing import Any

from barnabas.model.error_codes import ErrorCode as E
from barnabas.security.mechanism import AuthenticationError
from barnabas.security.plain import PlainClient, PlainServer, check_against
from barnabas.security.sasl_server import AuthenticateReply, SaslServer, SaslState
from barnabas.security.scram import ScramClient, ScramServer
from barnabas.security.scram_keys import SCRAM_HASHES, DecoyCredentials, ScramCredential

USER, PASSWORD = "alice", "wonder"
MECHANISMS = ("PLAIN", *SCRAM_HASHES)
ALLOWED_ERRORS = {
    E.NONE,
    E.UNSUPPORTED_SASL_MECHANISM,
    E.ILLEGAL_SASL_STATE,
    E.SASL_AUTHENTICATION_FAILED,
}

fast_pbkdf2 = functools.cache(hashlib.pbkdf2_hmac)
"""The same function, remembering: exchanges by the thousand use few passwords and salts."""


@functools.cache
def credential(mechanism: str) -> ScramCredential:
    return ScramCredential.from_password(SCRAM_HASHES[mechanism], PASSWORD, bytes(range(16)))


class Attacker:
    """Drives one connection; every method may be called at any time."""

    def __init__(self) -> None:
        self._nonces = itertools.count()
        factories: dict[str, Any] = {
            name: functools.partial(self._scram_server, name) for name in SCRAM_HASHES
        }
        factories["PLAIN"] = lambda: PlainServer(check_against({USER: PASSWORD}))
        self.server = SaslServer(factories)
        self.now_ms = 0
        self.seen: list[bytes] = [b"", b"\0alice\0", b"n,,n=alice,r=x", b"c=biws,r=x,p=eA=="]
        self.honest: Any = None
        self.next_token: bytes | None = None
        self.pure = False
        self.authenticated = False

    def _scram_server(self, name: str) -> ScramServer:
        lookup = {USER: credential(name)}.get
        scram = SCRAM_HASHES[name]
        decoys = DecoyCredentials(scram, b"secret")
        return ScramServer(scram, lookup, f"server{next(self._nonces)}", decoys.credential)

    def _client(self, mechanism: str, user: str, password: str) -> Any:
        if mechanism == "PLAIN":
            return PlainClient(user, password)
        nonce = f"client{next(self._nonces)}"
        return ScramClient(SCRAM_HASHES[mechanism], user, password, nonce)

    # ---------------------------------------------------------------- moves

    def handshake(self, mechanism: str, user: str, password: str) -> None:
        self.now_ms += 2_000
        answer = self.server.handshake(mechanism, 1, self.now_ms)
        assert answer.error in ALLOWED_ERRORS
        self.authenticated = False
        self.next_token, self.pure = None, False
        if answer.error:
            self._expect_closed(answer.close_after_ms)
            return
        self.honest = self._client(mechanism, user, password)
        self.next_token = self.honest.first()
        self.pure = (user, password) == (USER, PASSWORD)

    def follow(self) -> None:
        """The next token of the client that the handshake chose."""
        if self.next_token is None:
            self.send(b"")
            return
        token, self.next_token = self.next_token, None
        answer = self._authenticate(token)
        if answer.error:
            return
        if answer.principal is not None:
            self.authenticated = self.pure
            self._finish(answer.token)
            return
        self.next_token = self.honest.step(answer.token)

    def _finish(self, token: bytes) -> None:
        if self.pure:
            assert self.honest.step(token) is None

    def send(self, token: bytes) -> None:
        """Anything at all: what follows is no honest exchange any more."""
        expected = token == self.next_token
        self.pure = self.pure and expected
        if expected:
            self.follow()
            return
        self.next_token = None
        self._authenticate(token)

    def send_changed(self, rng: random.Random) -> None:
        """An honest token with one byte changed."""
        token = bytearray(self.next_token or b"nothing")
        position = rng.randrange(len(token))
        token[position] ^= 1 << rng.randrange(8)
        try:
            self.send(bytes(token))
        except AuthenticationError as error:
            raise AssertionError("an error escaped") from error

    def _authenticate(self, token: bytes) -> AuthenticateReply:
        self.seen.append(token)
        answer = self.server.authenticate(token, self.now_ms)
        assert answer.error in ALLOWED_ERRORS
        if answer.token:
            self.seen.append(answer.token)
        if answer.error:
            self.authenticated = False
            self._expect_closed(answer.close_after_ms)
        elif answer.principal is not None:
            assert answer.principal.name == USER
        return answer

    def _expect_closed(self, close_after_ms: int | None) -> None:
        assert close_after_ms is not None
        assert self.server.state is SaslState.FAILED

    def check(self) -> None:
        assert self.server.may_serve(self.now_ms) is self.authenticated
        assert (self.server.state is SaslState.AUTHENTICATED) is self.authenticated
