"""The checks that every request passes: host, origin, login, CSRF token, role, read-only."""

import httpx
import pytest
from support.console.requests import api_of, call

from barnabas.console.app import create_api
from barnabas.console.composition import Console
from barnabas.console.pages.login import add_login
from barnabas.console.settings import ConsoleSettings

BODY = {"name": "orders"}


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8080", "127.0.0.1.evil.example"])
async def test_a_foreign_host_header_is_rejected(host):
    status, body, _ = await call(api_of(), "GET", "/api/v1/session", headers={"host": host})
    assert (status, body["code"]) == (403, "REQUEST_REJECTED")


@pytest.mark.parametrize("host", ["localhost:8080", "127.0.0.1", "[::1]:8080"])
async def test_the_own_host_is_accepted(host):
    status, body, _ = await call(api_of(), "GET", "/api/v1/session", headers={"host": host})
    assert (status, body["user"], body["role"]) == (200, "local", "admin")


@pytest.mark.parametrize(
    "headers", [{"origin": "http://evil.example"}, {"sec-fetch-site": "cross-site"}]
)
async def test_a_change_from_another_site_is_rejected(headers):
    status, body, _ = await call(api_of(), "POST", "/api/v1/topics", BODY, headers)
    assert (status, body["code"]) == (403, "REQUEST_REJECTED")


async def test_a_read_only_console_accepts_no_change():
    status, body, _ = await call(api_of(read_only=True), "POST", "/api/v1/topics", BODY)
    assert (status, body["code"]) == (403, "READ_ONLY")


async def test_a_login_is_required_beyond_loopback():
    api = api_of(host="0.0.0.0", login="scram")
    status, body, _ = await call(api, "GET", "/api/v1/topics")
    assert (status, body["code"]) == (401, "LOGIN_REQUIRED")
    status, _, headers = await call(api, "GET", "/topics")
    assert (status, headers["location"]) == (303, "/login?next=%2Ftopics")


async def test_the_proxy_names_the_user_and_only_the_proxy():
    api = api_of(host="0.0.0.0", login="proxy", roles={"ada": "operate"})
    named = {"X-Forwarded-User": "ada"}
    _, body, _ = await call(api, "GET", "/api/v1/session", headers=named)
    assert (body["user"], body["role"]) == ("ada", "operate")
    _, body, _ = await call(api, "GET", "/api/v1/session", headers=named, address="10.0.0.9")
    assert body["user"] is None


async def test_a_role_that_is_too_low_is_named():
    api = api_of(host="0.0.0.0", login="proxy")
    named = {"X-Forwarded-User": "ada"}
    status, body, _ = await call(api, "POST", "/api/v1/topics", BODY, named)
    assert (status, body["code"]) == (403, "ROLE_REQUIRED")
    assert body["message"] == "user ada has role read; this needs role operate"


async def test_a_session_needs_its_csrf_token_for_changes():
    from barnabas.console.security.identity import COOKIE, ConsoleUser, Role

    api = api_of(host="0.0.0.0", login="scram")
    token = api.state.console.sessions.create(ConsoleUser("ada", Role.READ))
    cookie = {"cookie": f"{COOKIE}={token}"}
    status, body, _ = await call(api, "POST", "/api/v1/topics", BODY, cookie)
    assert (status, body["code"]) == (403, "REQUEST_REJECTED")
    assert "X-CSRF-Token" in body["message"]
    _, session, _ = await call(api, "GET", "/api/v1/session", headers=cookie)
    given = {**cookie, "x-csrf-token": session["csrf_token"]}
    status, body, _ = await call(api, "POST", "/api/v1/topics", BODY, given)
    assert body["code"] == "ROLE_REQUIRED"


async def test_responses_have_the_security_headers():
    _, _, headers = await call(api_of(), "GET", "/api/v1/session")
    assert "script-src 'none'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"


def test_every_change_has_a_role():
    """A route that changes something must declare who may use it."""
    from barnabas.console.app import ROUTERS

    without = [
        (sorted(route.methods), route.path)
        for router in ROUTERS
        for route in router.routes
        if "requires.<locals>.check"
        not in [item.call.__qualname__ for item in route.dependant.dependencies]
    ]
    assert [path for _, path in without] == ["/session"] * 3


async def test_a_page_without_the_header_of_the_proxy_explains_it():
    """It redirected from the page to /login and back, without an end."""
    console = Console(ConsoleSettings(client={"bootstrap.servers": "localhost:1"}, login="proxy"))
    api = create_api(console)
    add_login(api, console)
    transport = httpx.ASGITransport(api, client=("127.0.0.1", 1))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as browser:
        page = await browser.get("/topics", follow_redirects=True)
        assert page.status_code == 403
        assert "open the console through the proxy" in page.text
        named = await browser.get("/login?next=/topics", headers={"X-Forwarded-User": "ada"})
        assert (named.status_code, named.headers["location"]) == (303, "/topics")
    await console.close()
