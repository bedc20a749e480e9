"""The ASGI middleware that every request and every websocket passes first, and its audit log.

Order of the checks: the Host header (against DNS rebinding), the origin of changes and websockets
(against requests that another site sends from the user's browser), the identity, the CSRF token of
cookie sessions. Roles are checked by the routes (`api.routing.requires`), because only they know
what they change. The middleware also adds the response headers.

Pages call the API inside the process with the identity of their user: `ApiClient` puts a
`ConsoleUser` into the ASGI scope, where a network server never puts one.

The page frame of NiceGUI has inline scripts, so every page gets a fresh nonce; a script tag in a
record or a topic name has none and is not run. Vue compiles templates in the browser, which needs
'unsafe-eval'; 'unsafe-inline' for scripts is not allowed. Nothing is loaded from other hosts.

The audit log has one JSON line per request that changes something: user, address, method, path,
status and the details that the route added. Lines go to the logger `barnabas.console.audit` and, if
configured, to a file. Request bodies are not written, because they may have passwords or record
contents.
"""

import json
import logging
import re
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from http.cookies import SimpleCookie
from pathlib import Path
from urllib.parse import quote

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from barnabas.console.security.identity import COOKIE, ConsoleUser, SessionStore, same_token
from barnabas.console.settings import ConsoleSettings
from barnabas.model.errors import ConfigError

_log = logging.getLogger("barnabas.console.audit")
_SCRIPT_TAG = re.compile(rb"<script(?=[\s>])")

FIXED_HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
)
PRINCIPAL = "barnabas.principal"
"""Key in the ASGI scope of the user's identity."""
AUDIT_DETAILS = "barnabas.audit"
"""Key in the ASGI scope of a dict to which a route adds details for the audit log."""
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
PUBLIC_PATHS = ("/login", "/api/v1/session", "/_nicegui/", "/healthz")
"""Paths that work without a login: the login itself, and assets without data."""


@dataclass(slots=True)
class AuditEntry:
    user: str
    address: str
    method: str
    path: str
    status: int
    details: Mapping[str, object] = field(default_factory=dict)


class AuditLog:
    """Writes entries; `now` returns the current time with a time zone."""

    def __init__(self, path: Path | None, now: Callable[[], datetime]) -> None:
        self._now = now
        try:
            self._file = None if path is None else path.open("a", encoding="utf-8", buffering=1)
        except OSError as error:
            raise ConfigError(f"--audit-log {path}: {error.strerror}") from error

    def write(self, entry: AuditEntry) -> None:
        line = json.dumps(
            {
                "time": self._now().isoformat(timespec="milliseconds"),
                "user": entry.user,
                "address": entry.address,
                "method": entry.method,
                "path": entry.path,
                "status": entry.status,
                **({"details": dict(entry.details)} if entry.details else {}),
            },
            default=str,
        )
        _log.info("%s", line)
        if self._file is not None:
            self._file.write(line + "\n")

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


def new_nonce() -> str:
    return secrets.token_urlsafe(18)


def content_security_policy(nonce: str | None) -> bytes:
    """Returns the policy of a page, or of a response without scripts if there is no nonce."""
    scripts = f"'self' 'nonce-{nonce}' 'unsafe-eval'" if nonce else "'none'"
    return (
        f"default-src 'none'; script-src {scripts}; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data:; font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; "
        "frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
    ).encode()


def add_nonce(html: bytes, nonce: str) -> bytes:
    """Marks the script tags that the page frame itself has.

    Contents of the cluster are inside the last script as JSON text, where `<` is escaped.
    """
    return _SCRIPT_TAG.sub(f'<script nonce="{nonce}"'.encode(), html)


Authenticate = Callable[[Headers, str], Awaitable[ConsoleUser | None]]
"""Returns the identity from the headers and the address of a request; None without one."""


class RequestGuard:
    """Rejects requests that fail a check and passes the others on with their identity."""

    def __init__(
        self,
        app: ASGIApp,
        settings: ConsoleSettings,
        sessions: SessionStore,
        audit: AuditLog,
        authenticate: Authenticate,
    ) -> None:
        self._app = app
        self._settings = settings
        self._sessions = sessions
        self._audit = audit
        self._authenticate = authenticate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif PRINCIPAL in scope:
            await self._audited(scope, receive, send)
        else:
            await self._from_network(scope, receive, send)

    async def _from_network(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        problem = self._request_problem(scope, headers)
        if problem is not None:
            await _reject(scope, receive, send, 403, problem)
            return
        principal, problem = await self._identify(scope, headers)
        if problem is not None:
            await _reject(scope, receive, send, 403, problem)
            return
        if principal is None and not scope["path"].startswith(PUBLIC_PATHS):
            await self._require_login(scope, receive, send)
            return
        scope[PRINCIPAL] = principal
        await self._audited(scope, receive, _with_headers(scope, send))

    def _request_problem(self, scope: Scope, headers: Headers) -> str | None:
        """Returns why a request is rejected before its identity is known, or None."""
        host = headers.get("host", "")
        name = host.rpartition(":")[0] if not host.endswith("]") and ":" in host else host
        if self._settings.login == "none" and name not in self._settings.allowed_hosts:
            return f"the Host header {host!r} does not name this console"
        changes = scope["type"] == "websocket" or scope["method"] not in SAFE_METHODS
        if not changes:
            return None
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return "requests from other sites are not accepted"
        origin = headers.get("origin")
        if origin is not None and origin.partition("://")[2] != host:
            return f"the Origin header {origin!r} does not name this console"
        return None

    async def _identify(
        self, scope: Scope, headers: Headers
    ) -> tuple[ConsoleUser | None, str | None]:
        """Returns the identity, and why the request is rejected."""
        token = cookie_of(headers)
        session = self._sessions.find(token)
        if session is not None:
            changes = scope["type"] == "http" and scope["method"] not in SAFE_METHODS
            if changes and not same_token(session.csrf_token, headers.get("x-csrf-token")):
                return None, "the X-CSRF-Token header is missing or wrong; see GET /api/v1/session"
            return session.principal, None
        return await self._authenticate(headers, _address(scope)), None

    async def _require_login(self, scope: Scope, receive: Receive, send: Send) -> None:
        wants_page = (
            scope["type"] == "http"
            and scope["method"] == "GET"
            and not scope["path"].startswith(("/api/", "/openapi.json"))
        )
        if wants_page:
            target = scope["path"]
            if scope.get("query_string"):
                target += "?" + scope["query_string"].decode("latin-1")
            await RedirectResponse(f"/login?next={quote(target, safe='')}", 303)(
                scope, receive, send
            )
            return
        await _reject(scope, receive, send, 401, "a login is required")

    async def _audited(self, scope: Scope, receive: Receive, send: Send) -> None:
        changes = scope["type"] == "http" and scope["method"] not in SAFE_METHODS
        if not changes or not scope["path"].startswith("/api/"):
            await self._app(scope, receive, send)
            return
        details: dict[str, object] = {}
        scope[AUDIT_DETAILS] = details
        status = 500

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, watched)
        finally:
            principal = scope[PRINCIPAL]
            user = "-" if principal is None else principal.name
            if not details.pop("reads_only", False):
                self._audit.write(
                    AuditEntry(
                        user, _address(scope), scope["method"], scope["path"], status, details
                    )
                )


def cookie_of(headers: Headers) -> str | None:
    """Returns the session token in the cookies of a request."""
    cookies: SimpleCookie = SimpleCookie()
    cookies.load(headers.get("cookie", ""))
    return cookies[COOKIE].value if COOKIE in cookies else None


def _address(scope: Scope) -> str:
    client = scope.get("client")
    return client[0] if client else "-"


def _with_headers(scope: Scope, send: Send) -> Send:
    """Returns a send function that adds the security headers, and the nonce to pages."""
    if scope["type"] != "http":
        return send
    nonce = new_nonce()
    held: Message | None = None
    body = bytearray()

    async def sending(message: Message) -> None:
        nonlocal held
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            is_page = headers.get("content-type", "").startswith("text/html")
            for name, value in FIXED_HEADERS:
                headers[name.decode()] = value.decode()
            policy = content_security_policy(nonce if is_page else None)
            headers["content-security-policy"] = policy.decode()
            if is_page:
                held = message  # the length is known when the nonce has been added
                return
        elif held is not None and message["type"] == "http.response.body":
            body.extend(message.get("body", b""))
            if message.get("more_body"):
                return
            page = add_nonce(bytes(body), nonce)
            MutableHeaders(scope=held)["content-length"] = str(len(page))
            await send(held)
            message = {**message, "body": page}
        await send(message)

    return sending


async def _reject(scope: Scope, receive: Receive, send: Send, status: int, message: str) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008, "reason": message})
        return
    code = "LOGIN_REQUIRED" if status == 401 else "REQUEST_REJECTED"
    body = {"code": code, "message": message, "cause": None}
    await JSONResponse(body, status)(scope, receive, send)
