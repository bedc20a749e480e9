"""SCRAM (RFC 5802): the four messages, and the client and the server side of an exchange.

client-first  gs2 header `n,[a=authzid],` then `n=user,r=nonce[,extensions]`
server-first  `r=nonce+,s=salt,i=iterations`
client-final  `c=base64(gs2 header),r=nonce+[,extensions],p=proof`
server-final  `v=signature` or `e=error`

Parsers raise AuthenticationError without the content of the message. Mandatory extensions (`m=`)
and channel binding (`p=`) are rejected; unknown optional extensions are ignored, as the RFC
requires.

For an unknown user the server performs the same steps with a credential of the same form
(`scram_keys.DecoyCredentials`); the exchange fails at the end, as for a wrong password.
"""

import base64
import binascii
import enum
import hmac
import re
from collections.abc import Callable
from dataclasses import dataclass

from barnabas.security.mechanism import AuthenticationError, ServerStep
from barnabas.security.scram_keys import ScramCredential, ScramHash, check_iterations, saslprep, xor

_NONCE = re.compile(r"[\x21-\x2b\x2d-\x7e]+")
_MAX_MESSAGE = 4096


@dataclass(frozen=True, slots=True)
class ClientFirst:
    gs2_header: str
    authzid: str
    user: str
    nonce: str
    bare: str
    extensions: dict[str, str]


@dataclass(frozen=True, slots=True)
class ServerFirst:
    nonce: str
    salt: bytes
    iterations: int


@dataclass(frozen=True, slots=True)
class ClientFinal:
    channel_binding: bytes
    nonce: str
    proof: bytes
    without_proof: str


def encode_name(name: str) -> str:
    """Returns a user name in the encoding of SCRAM.

    >>> encode_name("a=b,c")
    'a=3Db=2Cc'
    """
    return name.replace("=", "=3D").replace(",", "=2C")


def decode_name(text: str) -> str:
    if re.search(r"=(?!2C|3D)", text):
        raise AuthenticationError("a SCRAM name with a bad escape")
    return text.replace("=2C", ",").replace("=3D", "=")


def parse_client_first(token: bytes) -> ClientFirst:
    flag, sep, rest = _text(token).partition(",")
    authzid, sep2, bare = rest.partition(",")
    if not sep or not sep2 or flag not in ("n", "y"):
        raise AuthenticationError("a SCRAM client-first message with a bad header")
    if authzid and not authzid.startswith("a="):
        raise AuthenticationError("a SCRAM client-first message with a bad authorization id")
    fields = _fields(bare)
    names = list(fields)
    if names[:2] != ["n", "r"]:
        raise AuthenticationError("a SCRAM client-first message without name and nonce")
    user = decode_name(fields.pop("n"))
    nonce = _nonce(fields.pop("r"))
    if not user:
        raise AuthenticationError("a SCRAM client-first message with an empty name")
    return ClientFirst(f"{flag},{authzid},", decode_name(authzid[2:]), user, nonce, bare, fields)


def parse_server_first(token: bytes) -> ServerFirst:
    fields = _fields(_text(token))
    if list(fields)[:3] != ["r", "s", "i"] or not fields["i"].isdecimal():
        raise AuthenticationError("a malformed SCRAM server-first message")
    return ServerFirst(_nonce(fields["r"]), _base64(fields["s"]), int(fields["i"][:10]))


def parse_client_final(token: bytes) -> ClientFinal:
    text = _text(token)
    without_proof, sep, proof = text.rpartition(",p=")
    fields = _fields(without_proof)
    if not sep or list(fields)[:2] != ["c", "r"]:
        raise AuthenticationError("a malformed SCRAM client-final message")
    return ClientFinal(_base64(fields["c"]), _nonce(fields["r"]), _base64(proof), without_proof)


def parse_server_final(token: bytes) -> bytes:
    """Returns the signature of the server."""
    fields = _fields(_text(token))
    if list(fields)[:1] != ["v"]:
        raise AuthenticationError("the server rejected the SCRAM exchange")
    return _base64(fields["v"])


def render_base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _text(token: bytes) -> str:
    if len(token) > _MAX_MESSAGE:
        raise AuthenticationError("a SCRAM message that is too long")
    try:
        return token.decode("utf-8")
    except UnicodeDecodeError:
        raise AuthenticationError("a SCRAM message that is not UTF-8") from None


def _fields(text: str) -> dict[str, str]:
    fields: dict[str, str] = {}
    for part in text.split(","):
        name, sep, value = part.partition("=")
        if not sep or not name.isascii() or not name.isalpha() or name in fields:
            raise AuthenticationError("a SCRAM message with a bad or doubled attribute")
        fields[name] = value
    if "m" in fields:
        raise AuthenticationError("a SCRAM message with an extension that must be understood")
    return fields


def _nonce(text: str) -> str:
    if not _NONCE.fullmatch(text):
        raise AuthenticationError("a SCRAM message with a bad nonce")
    return text


def _base64(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise AuthenticationError("a SCRAM message with bad base64") from None


# --- client --------------------------------------------------------------------------------------


_GS2_HEADER = "n,,"


class _ClientState(enum.Enum):
    START = enum.auto()
    FIRST_SENT = enum.auto()
    FINAL_SENT = enum.auto()
    OVER = enum.auto()


class ScramClient:
    """Client side of one exchange. `nonce` is new, random and printable without commas.

    With `by_token`, user and password are the id and the HMAC of a delegation token.
    """

    __slots__ = ("_bare", "_nonce", "_password", "_scram", "_signature", "_state", "name")

    def __init__(
        self,
        scram: ScramHash,
        user: str,
        password: str,
        nonce: str,
        *,
        by_token: bool = False,
    ) -> None:
        self.name = scram.mechanism
        self._scram = scram
        self._password = password
        self._nonce = nonce
        self._bare = f"n={encode_name(saslprep(user))},r={nonce}"
        if by_token:
            self._bare += ",tokenauth=true"
        self._signature = b""
        self._state = _ClientState.START

    def first(self) -> bytes:
        self._state = _ClientState.FIRST_SENT
        return (_GS2_HEADER + self._bare).encode()

    def step(self, token: bytes) -> bytes | None:
        state, self._state = self._state, _ClientState.OVER
        if state is _ClientState.FIRST_SENT:
            response = self._respond_to_challenge(token)
            self._state = _ClientState.FINAL_SENT
            return response
        if state is _ClientState.FINAL_SENT:
            self._check_server(token)
            return None
        raise AuthenticationError("the server sent a token after the end of the SCRAM exchange")

    def _respond_to_challenge(self, token: bytes) -> bytes:
        challenge = parse_server_first(token)
        if not challenge.nonce.startswith(self._nonce) or challenge.nonce == self._nonce:
            raise AuthenticationError("the server's nonce does not begin with the client's nonce")
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


# --- server --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TokenLogin:
    """Data that verify a login with a delegation token."""

    credential: ScramCredential
    owner: str
    lifetime_ms: int


TokenLookup = Callable[[str], TokenLogin | None]
"""Returns the data of a delegation token by its id, or None if there is no such token."""
CredentialLookup = Callable[[str], ScramCredential | None]
DecoyLookup = Callable[[str], ScramCredential]


class _ServerState(enum.Enum):
    FIRST = enum.auto()
    FINAL = enum.auto()
    OVER = enum.auto()


class ScramServer:
    """Server side of one exchange.

    `nonce` is new and random; `decoy` returns the credentials of unknown users.
    """

    __slots__ = (
        "_auth_prefix",
        "_credential",
        "_decoy",
        "_first",
        "_lookup",
        "_nonce",
        "_scram",
        "_state",
        "_token",
        "_tokens",
        "_user_known",
    )

    def __init__(
        self,
        scram: ScramHash,
        lookup: CredentialLookup,
        nonce: str,
        decoy: DecoyLookup,
        tokens: TokenLookup | None = None,
    ) -> None:
        """Without `tokens`, logins with delegation tokens fail."""
        self._tokens = tokens
        self._token: TokenLogin | None = None
        self._scram = scram
        self._lookup = lookup
        self._nonce = nonce
        self._decoy = decoy
        self._state = _ServerState.FIRST
        self._first: ClientFirst | None = None
        self._credential: ScramCredential | None = None
        self._user_known = False
        self._auth_prefix = ""

    def step(self, token: bytes) -> ServerStep:
        state, self._state = self._state, _ServerState.OVER
        if state is _ServerState.FIRST:
            response = self._take_first(parse_client_first(token))
            self._state = _ServerState.FINAL
            return response
        if state is _ServerState.FINAL:
            return self._take_final(token)
        raise AuthenticationError("a SCRAM token after the end of the exchange")

    def _take_first(self, first: ClientFirst) -> ServerStep:
        user = _prepared(first.user)
        if first.authzid and first.authzid != first.user:
            raise AuthenticationError("a SCRAM message with another authorization id")
        known = self._credential_of(user, by_token=first.extensions.get("tokenauth") == "true")
        self._user_known = known is not None
        decoy = self._decoy(user)  # also for known users, so that both take the same time
        credential = decoy if known is None else known
        nonce = first.nonce + self._nonce
        salt = render_base64(credential.salt)
        response = f"r={nonce},s={salt},i={credential.iterations}"
        self._first, self._credential = first, credential
        self._auth_prefix = f"{first.bare},{response}"
        return ServerStep(response.encode())

    def _take_final(self, token: bytes) -> ServerStep:
        first, credential = self._first, self._credential
        assert first is not None
        assert credential is not None
        final = parse_client_final(token)
        # Compare the whole nonce, not only its end (CVE-2024-56128).
        if not hmac.compare_digest(final.nonce, first.nonce + self._nonce):
            raise AuthenticationError("a SCRAM client-final message with another nonce")
        if final.channel_binding != first.gs2_header.encode():
            raise AuthenticationError("a SCRAM client-final message with another header")
        message = f"{self._auth_prefix},{final.without_proof}".encode()
        if not self._is_valid_proof(credential, message, final.proof) or not self._user_known:
            raise AuthenticationError("wrong user name or password")
        signature = self._scram.hmac(credential.server_key, message)
        response = f"v={render_base64(signature)}".encode()
        if self._token is not None:
            return ServerStep(response, self._token.owner, self._token.lifetime_ms, by_token=True)
        return ServerStep(response, _prepared(first.user))

    def _credential_of(self, user: str, *, by_token: bool) -> ScramCredential | None:
        if not by_token:
            return self._lookup(user)
        if self._tokens is None:
            raise AuthenticationError("delegation tokens are not enabled on this broker")
        self._token = self._tokens(user)
        return None if self._token is None else self._token.credential

    def _is_valid_proof(self, credential: ScramCredential, message: bytes, proof: bytes) -> bool:
        if len(proof) != self._scram.size:
            return False
        client_key = xor(proof, self._scram.hmac(credential.stored_key, message))
        return hmac.compare_digest(self._scram.digest(client_key), credential.stored_key)


def _prepared(user: str) -> str:
    try:
        return saslprep(user)
    except ValueError:
        raise AuthenticationError("a user name with forbidden characters") from None
