"""Login with OpenID Connect against a provider in the test."""

import json
from urllib.parse import parse_qs, parse_qsl, urlsplit

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from barnabas.console.app import create_api
from barnabas.console.composition import Console
from barnabas.console.pages.login import add_login
from barnabas.console.security.oidc import LoginFailedError, OidcLogin, check_issuer, code_challenge
from barnabas.console.settings import ConsoleSettings, OidcSettings
from barnabas.model.errors import ConfigError

ISSUER = "https://login.example"
NOW_S = 1_800_000_000
KEY = ec.generate_private_key(ec.SECP256R1())
BACK = "https://console.example/login/callback"


class Provider:
    """Handles the requests of a client; `claims` are those of the next token."""

    def __init__(self):
        self.claims = {}
        self.posted = {}
        self.key = KEY

    def client(self):
        return httpx.AsyncClient(transport=httpx.MockTransport(self.answer))

    def answer(self, request):
        if request.url.path == "/.well-known/openid-configuration":
            return httpx.Response(
                200,
                json={
                    "issuer": ISSUER,
                    "authorization_endpoint": f"{ISSUER}/authorize",
                    "token_endpoint": f"{ISSUER}/token",
                    "jwks_uri": f"{ISSUER}/keys",
                },
            )
        if request.url.path == "/keys":
            public = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(KEY.public_key()))
            return httpx.Response(200, json={"keys": [{**public, "kid": "1", "alg": "ES256"}]})
        self.posted = dict(parse_qsl(request.content.decode()))
        return httpx.Response(200, json={"id_token": self.token()})

    def token(self):
        claims = {
            "iss": ISSUER,
            "aud": "console",
            "exp": NOW_S + 60,
            "iat": NOW_S,
            "preferred_username": "ada",
            **self.claims,
        }
        return jwt.encode(claims, self.key, algorithm="ES256", headers={"kid": "1"})


@pytest.fixture
def provider():
    return Provider()


@pytest.fixture
def login(provider):
    settings = OidcSettings(ISSUER, "console", "secret")
    return OidcLogin(settings, lambda: 0.0, lambda: NOW_S, provider.client)


async def started(login, provider):
    """Starts a login and lets the provider sign its nonce; returns the state and the query."""
    address, state = await login.start("/topics", BACK)
    query = {key: value[0] for key, value in parse_qs(urlsplit(address).query).items()}
    provider.claims["nonce"] = query["nonce"]
    return state, query


async def test_the_code_is_exchanged_for_the_users_name(login, provider):
    state, query = await started(login, provider)
    assert (query["state"], query["redirect_uri"]) == (state, BACK)
    assert await login.finish(state, state, "code-1") == ("ada", "/topics")
    assert (provider.posted["code"], provider.posted["client_secret"]) == ("code-1", "secret")
    assert code_challenge(provider.posted["code_verifier"]) == query["code_challenge"]


async def test_a_login_can_be_finished_once(login, provider):
    state, _ = await started(login, provider)
    await login.finish(state, state, "code")
    with pytest.raises(LoginFailedError, match="used before"):
        await login.finish(state, state, "code")


@pytest.mark.parametrize("cookie", [None, "of another browser"])
async def test_another_browser_cannot_finish_it(login, provider, cookie):
    state, _ = await started(login, provider)
    with pytest.raises(LoginFailedError, match="another browser"):
        await login.finish(state, cookie, "code")


@pytest.mark.parametrize(
    "claims",
    [
        {"aud": "other"},
        {"iss": "https://evil.example"},
        {"exp": NOW_S - 100},
        {"nonce": "other"},
        {"preferred_username": ""},
    ],
)
async def test_a_token_of_another_login_is_rejected(login, provider, claims):
    state, _ = await started(login, provider)
    provider.claims.update(claims)
    with pytest.raises(LoginFailedError):
        await login.finish(state, state, "code")


async def test_a_token_with_another_signature_is_rejected(login, provider):
    state, _ = await started(login, provider)
    provider.key = ec.generate_private_key(ec.SECP256R1())
    with pytest.raises(LoginFailedError):
        await login.finish(state, state, "code")


async def test_a_bearer_token_names_the_user(login, provider):
    assert await login.user_of(provider.token()) == "ada"
    with pytest.raises(LoginFailedError):
        await login.user_of("no token")


@pytest.mark.parametrize("issuer", ["http://login.example", "login.example", "https://"])
def test_the_provider_is_reached_through_tls(issuer):
    with pytest.raises(ConfigError, match="must begin with https"):
        check_issuer(issuer)


async def test_the_browser_goes_to_the_provider_and_comes_back_logged_in(provider):
    settings = ConsoleSettings(
        client={"bootstrap.servers": "localhost:1"},
        login="oidc",
        roles={"ada": "operate"},
        oidc=OidcSettings(ISSUER, "console"),
    )
    console = Console(settings)
    console.authenticator.oidc = OidcLogin(
        settings.oidc, lambda: 0.0, lambda: NOW_S, provider.client
    )
    api = create_api(console)
    add_login(api, console)
    transport = httpx.ASGITransport(api, client=("127.0.0.1", 1))
    async with httpx.AsyncClient(transport=transport, base_url="https://console") as browser:
        sent = await browser.get("/topics?search=o")
        assert (sent.status_code, sent.headers["location"]) == (
            303,
            "/login?next=%2Ftopics%3Fsearch%3Do",
        )
        away = await browser.get(sent.headers["location"])
        query = dict(parse_qsl(urlsplit(away.headers["location"]).query))
        assert query["redirect_uri"] == "https://console/login/callback"
        provider.claims["nonce"] = query["nonce"]
        back = await browser.get(f"/login/callback?code=c&state={query['state']}")
        assert back.status_code == 200
        assert 'content="0; url=/topics?search=o"' in back.text
        session = (await browser.get("/api/v1/session")).json()
        assert (session["user"], session["role"], session["login"]) == ("ada", "operate", "oidc")
        again = await browser.get(f"/login/callback?code=c&state={query['state']}")
        assert again.status_code == 403
        bearer = {"authorization": f"Bearer {provider.token()}"}
    async with httpx.AsyncClient(transport=transport, base_url="https://console") as program:
        named = (await program.get("/api/v1/session", headers=bearer)).json()
        assert named["user"] == "ada"
        unknown = (
            await program.get("/api/v1/session", headers={"authorization": "Bearer x"})
        ).json()
        assert unknown["user"] is None
    await console.close()
