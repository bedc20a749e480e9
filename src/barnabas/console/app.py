"""The web application: routes, error handling, checks around a `Console`, a cache of scripts.

`create_api` has the JSON API alone; `barnabas.console.pages.site.add_pages` adds the pages. The
OpenAPI document is at /openapi.json; FastAPI's own page for it loads scripts from other hosts, so
it is switched off.

`AssetCache` keeps the scripts and styles of NiceGUI in memory once they were sent. A first page
needs about 25 files. NiceGUI reads each one from disk, in pieces and by a thread, behind two of
Starlette's middlewares, which takes longer than to send it. Their addresses contain the version, so
a file never changes while the process runs. Outside loopback the text files are compressed, each
once.
"""

import asyncio
import gzip
from dataclasses import dataclass

from fastapi import APIRouter, FastAPI
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from barnabas.console.api import (
    cluster,
    groups,
    pipelines,
    records,
    session,
    topics,
)
from barnabas.console.api.routing import (
    METHODS,
    EncodedSlashes,
    UnexpectedErrors,
    add_error_handlers,
    unknown_path,
)
from barnabas.console.composition import Console
from barnabas.console.security.guard import RequestGuard
from barnabas.console.settings import is_loopback
from barnabas.model.version import VERSION

PREFIX = "/_nicegui/"
MAX_BYTES = 8 * 1024 * 1024
_MIN_COMPRESSED = 1000
_GZIP_LEVEL = 6
RawHeaders = list[tuple[bytes, bytes]]
API_PREFIX = "/api/v1"
ROUTERS: tuple[APIRouter, ...] = (
    session.router,
    cluster.overview_router,
    topics.router,
    groups.router,
    pipelines.router,
    records.router,
    pipelines.dead_letter_router,
    cluster.router,
)


@dataclass(frozen=True, slots=True)
class Asset:
    headers: RawHeaders
    body: bytes


class AssetCache:
    """ASGI middleware; responses beyond `MAX_BYTES` in total are passed on and not kept."""

    def __init__(self, app: ASGIApp, compress: bool) -> None:
        self._app = app
        self._compress = compress
        self._kept: dict[str, Asset] = {}
        self._size = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self._may_keep(scope):
            await self._app(scope, receive, send)
            return
        asset = self._kept.get(scope["path"])
        if asset is None:
            await self._app(scope, receive, self._caching(scope["path"], send))
            return
        # The headers are copied: middlewares outside of this one add theirs to the list.
        start = {"type": "http.response.start", "status": 200, "headers": list(asset.headers)}
        await send(start)
        await send({"type": "http.response.body", "body": asset.body})

    def _may_keep(self, scope: Scope) -> bool:
        if scope["type"] != "http" or scope["method"] != "GET":
            return False
        path: str = scope["path"]
        if not path.startswith(PREFIX) or "/dynamic_resources/" in path:
            return False
        headers = Headers(scope=scope)
        accepted = not self._compress or "gzip" in headers.get("accept-encoding", "")
        return accepted and "range" not in headers and not scope.get("query_string")

    def _caching(self, path: str, send: Send) -> Send:
        """Returns a send function that passes a response on and keeps it when it is complete."""
        start: Message | None = None
        body = bytearray()

        async def sending(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start" and message["status"] == 200:
                start = {**message, "headers": list(message["headers"])}
            elif start is not None and message["type"] == "http.response.body":
                body.extend(message.get("body", b""))
                if not message.get("more_body") and _is_complete(start, body):
                    await self._keep(path, start["headers"], bytes(body))
            await send(message)

        return sending

    async def _keep(self, path: str, headers: RawHeaders, body: bytes) -> None:
        kind = Headers(raw=headers).get("content-type", "")
        if self._compress and kind.startswith("text/") and len(body) >= _MIN_COMPRESSED:
            body = await asyncio.to_thread(gzip.compress, body, _GZIP_LEVEL)
            changed = MutableHeaders(raw=headers)
            changed["content-encoding"] = "gzip"
            changed["content-length"] = str(len(body))
            changed.add_vary_header("Accept-Encoding")
            headers = changed.raw
        if path not in self._kept and self._size + len(body) <= MAX_BYTES:
            self._kept[path] = Asset(headers, body)
            self._size += len(body)


def _is_complete(start: Message, body: bytearray) -> bool:
    """Returns whether the body has the announced length.

    Starlette's `BaseHTTPMiddleware`, which NiceGUI uses, ends the body early and without an error
    when the client has disconnected.
    """
    return Headers(raw=start["headers"]).get("content-length") == str(len(body))


def create_api(console: Console) -> FastAPI:
    """Returns the application with the routes of the JSON API; it does not close the console."""

    app = FastAPI(
        title="Barnabas console",
        version=VERSION,
        summary="Topics, records, groups and pipelines of a Kafka cluster as JSON.",
        docs_url=None,
        redoc_url=None,
        middleware=[
            Middleware(
                RequestGuard,
                settings=console.settings,
                sessions=console.sessions,
                audit=console.audit_log,
                authenticate=console.authenticator,
            ),
            Middleware(AssetCache, compress=not is_loopback(console.settings.host)),
            Middleware(UnexpectedErrors),
            Middleware(EncodedSlashes),
        ],
    )
    app.state.console = console
    add_error_handlers(app)
    for router in ROUTERS:
        app.include_router(router, prefix=API_PREFIX)
    app.add_api_route("/healthz", healthz, include_in_schema=False)
    app.add_api_route(
        "/api/{path:path}", unknown_path, methods=list(METHODS), include_in_schema=False
    )
    return app


async def healthz() -> dict[str, str]:
    """Responds while the console runs, also while no broker can be reached."""
    return {"status": "ok"}
