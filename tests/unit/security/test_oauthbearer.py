"""Bearer tokens: the message, the signature, and the required claims of a token."""

import pytest
from support.security.oauth_issuer import AUDIENCE, ISSUER, Issuer

from barnabas.runtime.clock import SystemClock
from barnabas.security.mechanism import AuthenticationError
from barnabas.security.oauthbearer import (
    JwtChecker,
    JwtRules,
    OAuthBearerClient,
    OAuthBearerServer,
    TokenIdentity,
    parse_client_message,
    parse_key_set,
)

RULES = JwtRules(ISSUER, (AUDIENCE,))


@pytest.fixture(scope="module")
def issuer():
    return Issuer()


@pytest.fixture(scope="module")
def check(issuer):
    keys = parse_key_set(issuer.key_set())
    return JwtChecker(RULES, lambda key_id: keys, lambda: SystemClock().now_ms() / 1000)


def test_a_valid_token_authenticates_its_user(issuer, check):
    client, server = OAuthBearerClient(issuer.token("ann")), OAuthBearerServer(check)
    step = server.step(client.first())
    assert (step.token, step.user) == (b"", "ann")
    assert 290_000 < step.lifetime_ms <= 300_000
    assert client.step(step.token) is None
    with pytest.raises(AuthenticationError, match="after the end"):
        server.step(client.first())


@pytest.mark.parametrize(
    ("claims", "reason"),
    [
        ({"exp": 1}, "expired"),
        ({"exp": None}, "expired or never expires"),
        ({"exp": "soon"}, "not valid|not a number"),
        ({"nbf": 2**40}, "nbf is in the future"),
        ({"iat": 2**40}, "iat is in the future"),
        ({"iss": "https://other.example"}, "another issuer"),
        ({"aud": "other"}, "another audience"),
        ({"aud": None}, "another audience"),
        ({"aud": 5}, "another audience"),
        ({"aud": [{"name": "barnabas"}]}, "another audience"),
        ({"sub": None}, "without sub"),
        ({"user": " "}, "without sub"),
    ],
)
def test_claims_that_are_rejected(issuer, check, claims, reason):
    user = claims.pop("user", "ann")
    with pytest.raises(AuthenticationError, match=reason):
        check(issuer.token(user, **claims))


def test_one_of_several_audiences_is_enough(issuer, check):
    assert check(issuer.token(aud=["other", AUDIENCE])).user == "ann"


def test_forged_signatures_are_rejected(issuer, check):
    stranger = Issuer()
    forged = [
        stranger.token(),
        issuer.token(headers={"kid": "unknown"}),
        issuer.token(algorithm="none", key=""),
        # The public key as the secret of a symmetric signature.
        issuer.token(algorithm="HS256", key="k" * 64),
        issuer.token()[:-4] + "AAAA",
        "x.y.z",
        "",
    ]
    for token in forged:
        with pytest.raises(AuthenticationError) as refused:
            check(token)
        assert not token or token not in str(refused.value)


def test_a_token_without_a_key_id_fits_the_only_key(issuer, check):
    assert check(issuer.token(headers={})).user == "ann"


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"n,,",
        b"n,,\x01\x01",
        b"n,,\x01auth=Basic abc\x01\x01",
        b"y,,\x01auth=Bearer abc\x01\x01",
        b"n,,\x01auth=Bearer abc",
        b"\xff",
    ],
)
def test_a_malformed_message_is_rejected(message):
    with pytest.raises(AuthenticationError):
        parse_client_message(message)


def test_no_user_acts_for_another():
    server = OAuthBearerServer(lambda token: TokenIdentity("ann", 1))
    with pytest.raises(AuthenticationError, match="another authorization id"):
        server.step(b"n,a=bob,\x01auth=Bearer abc\x01\x01")


@pytest.mark.parametrize("text", ["", "{}", '{"keys": []}', '{"keys": [{"kty": "x"}]}', "[]"])
def test_a_document_without_keys(text):
    with pytest.raises(ValueError, match="JSON Web Key Set"):
        parse_key_set(text)
