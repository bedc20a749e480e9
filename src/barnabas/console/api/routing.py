"""Dependencies and helpers of the routes: console and role of the user, event streams, paths.

A server decodes `%2F` before routes see the path, so a group id would look like several segments.
The middleware puts a character of the private use area in its place, and `restored` takes it back.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Annotated, Any
from urllib.parse import quote, unquote

from fastapi import Depends, Path, Query, Request
from fastapi.responses import StreamingResponse
from fastapi.routing import APIRoute
from pydantic import AfterValidator, BaseModel
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from barnabas.console.api.errors import ApiError, code_of
from barnabas.console.composition import Console
from barnabas.console.models.common import ErrorBody, ListQuery
from barnabas.console.security.guard import AUDIT_DETAILS, PRINCIPAL
from barnabas.console.security.identity import Principal, Role
from barnabas.model.errors import BarnabasError

ERRORS: dict[int | str, dict[str, object]] = {
    status: {"model": ErrorBody} for status in (400, 401, 403, 404, 409, 422, 503, 504)
}
"""The error responses that every route may have, for the OpenAPI document."""


def console_of(request: Request) -> Console:
    console = request.app.state.console
    assert isinstance(console, Console)
    return console


def user_of(request: Request) -> Principal:
    principal = request.scope.get(PRINCIPAL)
    if not isinstance(principal, Principal):
        raise ApiError(401, "LOGIN_REQUIRED", "a login is required")
    return principal


def requires(
    role: Role, *, needs_cluster: bool = True
) -> Callable[[Request], Awaitable[Principal]]:
    """Returns a dependency that admits users with this role or a higher one.

    While no broker can be reached, routes that need the cluster answer at once with the reason.

    A route that takes POST and changes nothing (a search) uses READ: it is not audited, and works
    in a read-only console.
    """

    async def check(request: Request) -> Principal:
        principal = user_of(request)
        if role is Role.READ:
            request.scope.get(AUDIT_DETAILS, {})["reads_only"] = True
        elif console_of(request).settings.read_only:
            raise ApiError(403, "READ_ONLY", "this console is read-only")
        if not principal.may(role):
            raise ApiError(
                403,
                "ROLE_REQUIRED",
                f"user {principal.name} has role {principal.role.name.lower()}; "
                f"this needs role {role.name.lower()}",
            )
        if needs_cluster:
            await console_of(request).link.check_reachable()
        return principal

    return check


def audit(request: Request, **details: object) -> None:
    """Adds details to the audit log entry of a request; never pass secrets or record contents."""
    request.scope.get(AUDIT_DETAILS, {}).update(details)


ConsoleDep = Annotated[Console, Depends(console_of)]
UserDep = Annotated[Principal, Depends(user_of)]
ListQueryDep = Annotated[ListQuery, Query()]
Reader = Depends(requires(Role.READ))
LocalReader = Depends(requires(Role.READ, needs_cluster=False))
Operator = Depends(requires(Role.OPERATE))
Administrator = Depends(requires(Role.ADMIN))


class ClusterRoute(APIRoute):
    """Ends a read with the reason when the cluster becomes unreachable while the read waits.

    A change is not interrupted: it may have reached the cluster, and its own timeout applies.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        if "GET" not in (self.methods or ()) or Reader not in self.dependencies:
            return handle

        async def guarded(request: Request) -> Response:
            return await console_of(request).link.while_reachable(handle(request))

        return guarded


_KEEP_ALIVE_S = 15.0
EVENT_STREAM = "text/event-stream"


def event_stream(events: AsyncIterator[BaseModel]) -> StreamingResponse:
    """Returns a response that sends each value as one event, until the iterator ends."""
    return StreamingResponse(
        _lines(events), media_type=EVENT_STREAM, headers={"cache-control": "no-store"}
    )


async def _lines(events: AsyncIterator[BaseModel]) -> AsyncIterator[str]:
    pending = asyncio.ensure_future(anext(events, None))
    try:
        while True:
            done, _ = await asyncio.wait([pending], timeout=_KEEP_ALIVE_S)
            if not done:
                yield ": keep-alive\n\n"
                continue
            value = pending.result()
            if value is None:
                yield "event: end\ndata: {}\n\n"
                return
            yield f"data: {value.model_dump_json()}\n\n"
            pending = asyncio.ensure_future(anext(events, None))
    except BarnabasError as error:
        body = ErrorBody(code=code_of(error), message=str(error), cause=None)
        yield f"event: error\ndata: {body.model_dump_json()}\n\n"
    finally:
        pending.cancel()
        with suppress(asyncio.CancelledError, BarnabasError, StopAsyncIteration):
            await pending
        close = getattr(events, "aclose", None)
        if close is not None:
            await close()


_SLASH = "\ue000"
_ENCODED = re.compile("%2f", re.IGNORECASE)


class EncodedSlashes:
    """ASGI middleware: an encoded slash does not end a segment of the path."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        raw = scope.get("raw_path") if scope["type"] == "http" else None
        if raw is not None and b"%2f" in raw.lower():
            scope = {**scope, "path": unquote(_ENCODED.sub(quote(_SLASH), raw.decode("latin-1")))}
        await self._app(scope, receive, send)


def restored(text: str) -> str:
    """Returns a path parameter with its slashes."""
    return text.replace(_SLASH, "/")


GroupName = Annotated[str, Path(min_length=1, max_length=1000), AfterValidator(restored)]
