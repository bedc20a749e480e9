"""The web application: routes, error handling and checks around a `Console`.

`create_api` has the JSON API alone; `barnabas.console.pages.site.add_pages` adds the pages. The
OpenAPI document is at /openapi.json; FastAPI's own page for it loads scripts from other hosts, so
it is switched off.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import APIRouter, FastAPI
from starlette.middleware import Middleware

from barnabas.console.api import (
    cluster,
    groups,
    pipelines,
    records,
    session,
    topics,
)
from barnabas.console.api.errors import ApiError, UnexpectedErrors, add_error_handlers
from barnabas.console.api.routing import EncodedSlashes
from barnabas.console.assets import AssetCache
from barnabas.console.composition import Console
from barnabas.console.security.guard import RequestGuard
from barnabas.console.settings import is_loopback
from barnabas.model.version import VERSION

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


def create_api(console: Console) -> FastAPI:
    """Returns the application with the routes of the JSON API."""

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        yield
        await console.close()

    app = FastAPI(
        title="Barnabas console",
        version=VERSION,
        summary="Topics, records, groups and pipelines of a Kafka cluster as JSON.",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
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
    app.add_api_route("/api/{path:path}", unknown_path, include_in_schema=False)
    return app


async def unknown_path(path: str) -> None:
    """Answers for paths that the API does not have; without it the pages would answer."""
    raise ApiError(404, "NOT_FOUND", f"the API has no path /api/{path}")


async def healthz() -> dict[str, str]:
    """Answers while the console runs; says nothing about the cluster."""
    return {"status": "ok"}
