"""Attacks of a hostile server."""

import pytest

from barnabas.security.mechanism import AuthenticationError
from barnabas.security.scram import ScramClient, ScramServer
from barnabas.security.scram_keys import SCRAM_SHA_256, DecoyCredentials, ScramCredential

SALT = bytes(16)


def client() -> ScramClient:
    made = ScramClient(SCRAM_SHA_256, "user", "pencil", "mine")
    made.first()
    return made


@pytest.mark.parametrize(
    "challenge",
    [
        b"r=theirs,s=QUJD,i=4096",
        b"r=mine,s=QUJD,i=4096",
        b"r=minex,s=QUJD,i=1",
        b"r=minex,s=QUJD,i=4095",
        b"r=minex,s=QUJD,i=1000001",
        b"r=minex,s=QUJD,i=2147483647",
        b"e=other-error",
        b"",
    ],
)
def test_an_invalid_challenge_is_rejected(challenge: bytes) -> None:
    with pytest.raises(AuthenticationError):
        client().step(challenge)


@pytest.mark.parametrize("signature", [b"v=QUJD", b"e=unknown-user", b"v="])
def test_a_server_that_does_not_know_the_password(signature: bytes) -> None:
    them = client()
    assert them.step(b"r=minex,s=QUJD,i=4096") is not None
    with pytest.raises(AuthenticationError):
        them.step(signature)


def test_nothing_follows_the_end() -> None:
    credential = ScramCredential.from_password(SCRAM_SHA_256, "pencil", SALT)
    us = ScramServer(
        SCRAM_SHA_256,
        {"user": credential}.get,
        "theirs",
        DecoyCredentials(SCRAM_SHA_256, b"").credential,
    )
    them = ScramClient(SCRAM_SHA_256, "user", "pencil", "mine")
    final = them.step(us.step(them.first()).token)
    assert final is not None
    last = us.step(final).token
    assert them.step(last) is None
    with pytest.raises(AuthenticationError, match="after the end"):
        them.step(last)


def test_a_server_cannot_begin() -> None:
    with pytest.raises(AuthenticationError):
        ScramClient(SCRAM_SHA_256, "user", "pencil", "mine").step(b"r=minex,s=QUJD,i=4096")
