"""The login page: a form of its own, because a page of the library needs a session already.

The form sends its fields to the API with `fetch` and goes on to the wanted page. The target must be
a path of this console.
"""

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.responses import Response

from barnabas.console.settings import ConsoleSettings

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


def add_login(app: FastAPI, settings: ConsoleSettings) -> None:
    """Adds the login page for consoles that take passwords."""

    async def login(_request: Request) -> Response:
        if settings.login != "scram":
            return RedirectResponse("/", 303)
        return HTMLResponse(_PAGE)

    app.add_route("/login", login, ["GET"])
