"""The four messages of SCRAM (RFC 5802 section 7), read strictly and written.

client-first  gs2 header `n,[a=authzid],` then `n=user,r=nonce[,extensions]`
server-first  `r=nonce+,s=salt,i=iterations`
client-final  `c=base64(gs2 header),r=nonce+[,extensions],p=proof`
server-final  `v=signature` or `e=error`

Every reader raises AuthenticationError without repeating what it read. Mandatory extensions
(`m=`) and channel binding (`p=`) are refused; unknown optional ones are ignored, as the RFC says.
"""

import base64
import binascii
import re
from dataclasses import dataclass

from barnabas.security.errors import AuthenticationError

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
    """A user name as SCRAM writes it.

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
        raise AuthenticationError("a SCRAM server-first message that is none")
    return ServerFirst(_nonce(fields["r"]), _base64(fields["s"]), int(fields["i"][:10]))


def parse_client_final(token: bytes) -> ClientFinal:
    text = _text(token)
    without_proof, sep, proof = text.rpartition(",p=")
    fields = _fields(without_proof)
    if not sep or list(fields)[:2] != ["c", "r"]:
        raise AuthenticationError("a SCRAM client-final message that is none")
    return ClientFinal(_base64(fields["c"]), _nonce(fields["r"]), _base64(proof), without_proof)


def parse_server_final(token: bytes) -> bytes:
    """The server's signature."""
    fields = _fields(_text(token))
    if list(fields)[:1] != ["v"]:
        raise AuthenticationError("the server refused the SCRAM exchange")
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
