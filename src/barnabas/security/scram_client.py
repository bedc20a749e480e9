"""The client's side of SCRAM. It also checks that the server knows the password."""

import enum
import hmac

from barnabas.security.errors import AuthenticationError
from barnabas.security.saslprep import saslprep
from barnabas.security.scram_keys import ScramHash, check_iterations, xor
from barnabas.security.scram_messages import (
    encode_name,
    parse_server_final,
    parse_server_first,
    render_base64,
)

_GS2_HEADER = "n,,"


class _State(enum.Enum):
    START = enum.auto()
    FIRST_SENT = enum.auto()
    FINAL_SENT = enum.auto()
    OVER = enum.auto()


class ScramClient:
    """One exchange. `nonce` is fresh, random and printable without commas."""

    __slots__ = ("_bare", "_nonce", "_password", "_scram", "_signature", "_state", "name")

    def __init__(self, scram: ScramHash, user: str, password: str, nonce: str) -> None:
        self.name = scram.mechanism
        self._scram = scram
        self._password = password
        self._nonce = nonce
        self._bare = f"n={encode_name(saslprep(user))},r={nonce}"
        self._signature = b""
        self._state = _State.START

    def first(self) -> bytes:
        self._state = _State.FIRST_SENT
        return (_GS2_HEADER + self._bare).encode()

    def step(self, token: bytes) -> bytes | None:
        state, self._state = self._state, _State.OVER
        if state is _State.FIRST_SENT:
            answer = self._answer_challenge(token)
            self._state = _State.FINAL_SENT
            return answer
        if state is _State.FINAL_SENT:
            self._check_server(token)
            return None
        raise AuthenticationError("the server went on after the end of the SCRAM exchange")

    def _answer_challenge(self, token: bytes) -> bytes:
        challenge = parse_server_first(token)
        if not challenge.nonce.startswith(self._nonce) or challenge.nonce == self._nonce:
            raise AuthenticationError("the server's nonce does not go on from ours")
        try:
            check_iterations(challenge.iterations)
        except ValueError as error:
            raise AuthenticationError(str(error)) from None
        scram = self._scram
        salted = scram.salted_password(self._password, challenge.salt, challenge.iterations)
        without_proof = f"c={render_base64(_GS2_HEADER.encode())},r={challenge.nonce}"
        message = f"{self._bare},{token.decode()},{without_proof}".encode()
        client_key = scram.client_key(salted)
        proof = xor(client_key, scram.hmac(scram.digest(client_key), message))
        self._signature = scram.hmac(scram.server_key(salted), message)
        return f"{without_proof},p={render_base64(proof)}".encode()

    def _check_server(self, token: bytes) -> None:
        if not hmac.compare_digest(parse_server_final(token), self._signature):
            raise AuthenticationError("the server does not know the password")
