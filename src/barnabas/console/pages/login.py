"""The login page: plain HTML, because NiceGUI pages are served only to users with a session.

The form sends its fields to the API with `fetch` and then opens the requested page, which must be
a path of this console. With OpenID Connect there is no form: the browser is redirected to the
provider.
"""

import html
import re

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.responses import Response

from barnabas.console.api.session import set_session_cookie
from barnabas.console.composition import Console
from barnabas.console.security.guard import PRINCIPAL
from barnabas.console.security.oidc import LoginFailedError, OidcLogin
from barnabas.model.errors import BarnabasError

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Log in - Barnabas</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
:root { color-scheme: light dark; font-family: system-ui, sans-serif; }
main { max-width: 340px; margin: 12vh auto; padding: 0 16px; }
label { display: block; margin: 12px 0 4px; }
input { width: 100%; padding: 8px; font: inherit; box-sizing: border-box; }
button { margin-top: 16px; padding: 8px 20px; font: inherit; background: #0b6e6e; color: #fff;
  border: 0; border-radius: 4px; cursor: pointer; }
#error { color: #c10015; min-height: 1.5em; }
</style></head><body><main><h1>Barnabas</h1>
<p>Log in as a SCRAM user of the cluster.</p>
<form id="form"><label for="user">User</label><input id="user" autocomplete="username" required>
<label for="password">Password</label>
<input id="password" type="password" autocomplete="current-password" required>
<p id="error" role="alert"></p><button>Log in</button></form></main>
<script>
document.getElementById("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const response = await fetch("/api/v1/session", {method: "POST",
    headers: {"content-type": "application/json"},
    body: JSON.stringify({user: document.getElementById("user").value,
      password: document.getElementById("password").value})});
  if (response.ok) {
    const next = new URLSearchParams(location.search).get("next") || "/";
    location.assign(/^\\/(?![\\/\\\\])/.test(next) ? next : "/");
  } else {
    const body = await response.json();
    document.getElementById("error").textContent = body.message;
  }
});
</script></body></html>
"""


_RETURN = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Logged in - Barnabas</title>
<meta http-equiv="refresh" content="0; url={target}"></head>
<body><a href="{target}">Continue</a></body></html>
"""

_FAILED = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Log in - Barnabas</title></head>
<body><main><h1>Barnabas</h1><p role="alert">{reason}</p><a href="/login">Log in again</a></main>
</body></html>
"""
_STATE_COOKIE = "barnabas_login"


def add_login(app: FastAPI, console: Console) -> None:
    """Adds the login page, or the redirects to the provider and back."""
    method, oidc = console.settings.login, console.authenticator.oidc

    async def login(request: Request) -> Response:
        if oidc is not None:
            return await _to_provider(oidc, request)
        if method == "scram":
            return HTMLResponse(_PAGE)
        if method == "proxy" and request.scope.get(PRINCIPAL) is None:
            return _failed(LoginFailedError(_no_proxy(console.settings.proxy_header)), 403)
        return RedirectResponse(own_path(request.query_params.get("next")), 303)

    async def callback(request: Request) -> Response:
        if oidc is None:
            return RedirectResponse("/", 303)
        return await _from_provider(console, oidc, request)

    app.add_route("/login", login, ["GET"])
    app.add_route("/login/callback", callback, ["GET"])


def _no_proxy(header: str) -> str:
    return (
        f"a proxy names the user of this console in the header {header}, but this request has "
        "none, or comes from an address that is not a trusted proxy; open the console through "
        "the proxy"
    )


async def _to_provider(oidc: OidcLogin, request: Request) -> Response:
    back = f"{str(request.base_url).rstrip('/')}/login/callback"
    try:
        address, state = await oidc.start(own_path(request.query_params.get("next")), back)
    except BarnabasError as error:
        return _failed(error, 503)
    response = RedirectResponse(address, 303)
    # The browser comes back from another site, so the cookie cannot be strict.
    response.set_cookie(
        _STATE_COOKIE,
        state,
        path="/login",
        max_age=600,
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https",
    )
    return response


async def _from_provider(console: Console, oidc: OidcLogin, request: Request) -> Response:
    given = request.query_params
    if "error" in given:
        reason = given.get("error_description") or given["error"]
        return _failed(LoginFailedError(f"the provider refused the login: {reason}"), 403)
    try:
        name, target = await oidc.finish(
            given.get("state", ""), request.cookies.get(_STATE_COOKIE), given.get("code", "")
        )
    except BarnabasError as error:
        return _failed(error, 403)
    # A redirect would still count as coming from the provider, and a strict cookie not be sent.
    response = HTMLResponse(_RETURN.format(target=html.escape(target, quote=True)))
    token = console.sessions.create(console.authenticator.principal(name))
    set_session_cookie(response, token, request)
    response.delete_cookie(_STATE_COOKIE, path="/login")
    return response


def _failed(error: BarnabasError, status: int) -> Response:
    return HTMLResponse(_FAILED.format(reason=html.escape(str(error))), status)


def own_path(target: str | None) -> str:
    """Returns a path of this console; the overview in place of another address.

    >>> own_path("/topics?search=a"), own_path("//evil.example"), own_path(None)
    ('/topics?search=a', '/', '/')
    """
    is_own = target is not None and re.match(r"/(?![/\\\\])", target)
    return target if target is not None and is_own else "/"
