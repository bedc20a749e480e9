"""The exchange of both sides, the example of the RFC, and attacks."""

import base64

import pytest

from barnabas.security.mechanism import AuthenticationError
from barnabas.security.scram import ScramClient, ScramServer
from barnabas.security.scram_keys import (
    SCRAM_HASHES,
    SCRAM_SHA_256,
    DecoyCredentials,
    ScramCredential,
    ScramHash,
    xor,
)

SALT = base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
CREDENTIAL = ScramCredential.from_password(SCRAM_SHA_256, "pencil", SALT)
SERVER_NONCE = "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
DECOYS = DecoyCredentials(SCRAM_SHA_256, b"broker secret")


def server(nonce: str = SERVER_NONCE) -> ScramServer:
    return ScramServer(SCRAM_SHA_256, {"user": CREDENTIAL}.get, nonce, DECOYS.credential)


def client(user: str = "user", password: str = "pencil") -> ScramClient:
    return ScramClient(SCRAM_SHA_256, user, password, "rOprNGfwEbeRWgbNEkqO")


def test_the_example_of_rfc_7677() -> None:
    them, us = client(), server()
    first = them.first()
    assert first == b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
    challenge = us.step(first)
    assert challenge.token == (
        b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
    )
    assert challenge.user is None
    final = them.step(challenge.token)
    assert final == (
        b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
        b"p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
    )
    done = us.step(final)
    assert done.token == b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="
    assert done.user == "user"
    assert them.step(done.token) is None


@pytest.mark.parametrize("scram", SCRAM_HASHES.values(), ids=lambda scram: scram.mechanism)
def test_names_that_need_escapes(scram: ScramHash) -> None:
    name = "CN=ann,OU=x"
    credential = ScramCredential.from_password(scram, "pw", SALT)
    us = ScramServer(scram, {name: credential}.get, "server", DECOYS.credential)
    them = ScramClient(scram, name, "pw", "client")
    final = them.step(us.step(them.first()).token)
    assert final is not None
    assert us.step(final).user == name


def run(us: ScramServer, them: ScramClient) -> None:
    final = them.step(us.step(them.first()).token)
    assert final is not None
    us.step(final)


@pytest.mark.parametrize(("user", "password"), [("user", "Pencil"), ("nobody", "pencil")])
def test_unknown_users_fail_like_wrong_passwords(user: str, password: str) -> None:
    with pytest.raises(AuthenticationError, match=r"^wrong user name or password$"):
        run(server(), client(user, password))


def test_an_unknown_user_always_gets_the_same_salt() -> None:
    first = client("nobody").first()
    answers = {server().step(first).token for _ in range(3)}
    assert len(answers) == 1
    other = server().step(client("nobody2").first()).token
    assert other not in answers
    assert len(base64.b64decode(answers.pop().split(b",")[1][2:])) == 24


def final_of(us: ScramServer) -> bytes:
    them = client()
    final = them.step(us.step(them.first()).token)
    assert final is not None
    return final


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"r=rOpr", b"r=XXXX"),  # ends with the right nonce: CVE-2024-56128
        (b"k0,p=", b"k1,p="),
        (b"c=biws", b"c=eSws"),
        (b"p=dHz", b"p=eHz"),
        (b"p=dHzbZapW", b"p=dHzb"),
    ],
)
def test_a_changed_final_message_is_rejected(old: bytes, new: bytes) -> None:
    us = server()
    final = final_of(us)
    assert old in final
    with pytest.raises(AuthenticationError):
        us.step(final.replace(old, new))


@pytest.mark.parametrize(
    ("without_proof", "reason"),
    [
        ("c=biws,r=XXXX" + SERVER_NONCE, "another nonce"),  # CVE-2024-56128
        ("c=biws,r=rOprNGfwEbeRWgbNEkqO", "another nonce"),
        ("c=eSws,r=rOprNGfwEbeRWgbNEkqO" + SERVER_NONCE, "another header"),
    ],
)
def test_even_with_a_valid_proof(without_proof: str, reason: str) -> None:
    """The password is right, the proof fits the message, but the message is of no exchange."""
    us = server()
    first = client().first()
    challenge = us.step(first).token
    message = b",".join([first[3:], challenge, without_proof.encode()])
    scram = SCRAM_SHA_256
    key = scram.client_key(scram.salted_password("pencil", SALT, 4096))
    proof = xor(key, scram.hmac(scram.digest(key), message))
    final = without_proof.encode() + b",p=" + base64.b64encode(proof)
    with pytest.raises(AuthenticationError, match=reason):
        us.step(final)


def test_a_recorded_exchange_is_worth_nothing() -> None:
    final = final_of(server())
    us = server("another nonce".replace(" ", "-"))
    us.step(client().first())
    with pytest.raises(AuthenticationError):
        us.step(final)


def test_an_exchange_ends_with_its_first_failure() -> None:
    us = server()
    final = final_of(us)
    with pytest.raises(AuthenticationError):
        us.step(final.replace(b"p=d", b"p=e"))
    with pytest.raises(AuthenticationError, match="after the end"):
        us.step(final)


@pytest.mark.parametrize(
    "first",
    [b"n,a=admin,n=user,r=abc", b"n,,n=user,r=abc,tokenauth=true", b"n,,n=a\x07,r=abc"],
)
def test_rejected_at_the_first_message(first: bytes) -> None:
    with pytest.raises(AuthenticationError):
        server().step(first)


def test_acting_for_oneself_is_allowed() -> None:
    assert server().step(b"n,a=user,n=user,r=abc").token.startswith(b"r=abc")
