"""Helpers of all routes: the console and the role of the user, event streams, paths, and errors.

A server decodes `%2F` before routes see the path, so a group id would look like several segments.
The middleware puts a character of the private use area in its place, and `restored` takes it back.

Errors are JSON: code, message and cause, never a traceback. Errors of the cluster keep Kafka's name
as their code. An unexpected exception is written to the log of the console; the response says only
that it happened.
"""

import asyncio
import itertools
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Annotated
from urllib.parse import quote, unquote

from fastapi import Depends, FastAPI, Path, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, StreamingResponse
from fastapi.routing import APIRoute
from pydantic import AfterValidator, BaseModel
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from barnabas.console.composition import Console
from barnabas.console.models.common import ErrorBody, ListQuery
from barnabas.console.security.guard import AUDIT_DETAILS, PRINCIPAL
from barnabas.console.security.identity import ConsoleUser, Role
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError, DeadlineError, LocalError

_log = logging.getLogger("barnabas.console")
_NOT_FOUND = frozenset(
    {
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.GROUP_ID_NOT_FOUND,
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.TRANSACTIONAL_ID_NOT_FOUND,
        ErrorCode.RESOURCE_NOT_FOUND,
    }
)
_CONFLICT = frozenset(
    {
        ErrorCode.TOPIC_ALREADY_EXISTS,
        ErrorCode.NON_EMPTY_GROUP,
        ErrorCode.REASSIGNMENT_IN_PROGRESS,
        ErrorCode.NO_REASSIGNMENT_IN_PROGRESS,
        ErrorCode.ELECTION_NOT_NEEDED,
    }
)
_NAMES = {400: "BAD_REQUEST", 403: "FORBIDDEN", 404: "NOT_FOUND", 405: "METHOD_NOT_ALLOWED"}
ERRORS: dict[int | str, dict[str, object]] = {
    status: {"model": ErrorBody} for status in (400, 401, 403, 404, 409, 422, 503, 504)
}
"""The error responses that every route may have, for the OpenAPI document."""
METHODS = ("DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT")


class ApiError(Exception):
    """An error that a service or route raises with its own status and code."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


def add_error_handlers(app: FastAPI) -> None:
    app.add_exception_handler(ApiError, _api_error)
    app.add_exception_handler(BarnabasError, _cluster_error)
    app.add_exception_handler(RequestValidationError, _invalid_request)
    app.add_exception_handler(HTTPException, _http_error)


def error_response(status: int, code: str, message: str, cause: str | None = None) -> JSONResponse:
    body = ErrorBody(code=code, message=message, cause=cause)
    return JSONResponse(body.model_dump(), status)


def status_of(error: BarnabasError) -> int:
    """Returns the HTTP status of an error."""
    if isinstance(error, BrokerError):
        return _broker_status(error.code)
    if isinstance(error, DeadlineError):
        return 504
    return 400 if isinstance(error, LocalError) else 503


def code_of(error: BarnabasError) -> str:
    if isinstance(error, BrokerError):
        return error.code.name
    kind = type(error).__name__.removesuffix("Error")
    return "".join(f"_{char}" if char.isupper() else char for char in kind).lstrip("_").upper()


def _broker_status(code: ErrorCode) -> int:
    if code in _NOT_FOUND:
        return 404
    if code in _CONFLICT:
        return 409
    if code.name.endswith("AUTHORIZATION_FAILED"):
        return 403
    return 503 if code.retriable else 400


def _cause(error: BaseException) -> str | None:
    return None if error.__cause__ is None else str(error.__cause__)


def _api_error(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, ApiError)
    return error_response(error.status, error.code, str(error), _cause(error))


def _cluster_error(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, BarnabasError)
    notes = "; ".join(getattr(error, "__notes__", ())) or None
    message = error.message if isinstance(error, BrokerError) else str(error)
    cause = _cause(error) or notes
    repeated = cause is not None and cause in message
    return error_response(status_of(error), code_of(error), message, None if repeated else cause)


def _invalid_request(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    parts = [
        f"{'.'.join(str(part) for part in item['loc'])}: {item['msg']}" for item in error.errors()
    ]
    about_body = any(item["loc"][0] == "body" for item in error.errors())
    if about_body and "json" not in request.headers.get("content-type", ""):
        # Without this header curl sends another type, and the body is not read as JSON.
        parts.append("send the header Content-Type: application/json")
    return error_response(422, "INVALID_REQUEST", "; ".join(parts))


def _http_error(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    code = _NAMES.get(error.status_code, f"HTTP_{error.status_code}")
    response = error_response(error.status_code, code, str(error.detail))
    response.headers.update(error.headers or {})
    return response


async def unknown_path(path: str, request: Request) -> None:
    """Raises for paths and methods that the API does not have; otherwise a page would be returned.

    Raises:
        HTTPException: The path has other methods: status 405.
        ApiError: There is no such path: status 404.
    """
    allowed = ", ".join(_methods_of(request))
    if allowed:
        message = f"/api/{path} does not accept {request.method}, only {allowed}"
        raise HTTPException(405, message, {"Allow": allowed})
    raise ApiError(404, "NOT_FOUND", f"the API has no path /api/{path}")


def _methods_of(request: Request) -> list[str]:
    """Returns the methods that the routes before `unknown_path` have for this path."""
    routes = itertools.takewhile(
        lambda route: getattr(route, "endpoint", None) is not unknown_path,
        request.app.router.routes,
    )
    scopes = [{**request.scope, "method": method} for method in METHODS]
    return sorted(
        {
            scope["method"]
            for route, scope in itertools.product(routes, scopes)
            if route.matches(scope)[0] is Match.FULL
        }
    )


class UnexpectedErrors:
    """ASGI middleware: an exception without a handler becomes a response with status 500."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = False

        async def watched(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except Exception as error:
            if scope["type"] != "http" or started:
                raise
            _log.exception("%s %s failed", scope["method"], scope["path"])
            message = "an unexpected error; the log of the console has the details"
            response = error_response(500, "INTERNAL_ERROR", message, type(error).__name__)
            await response(scope, receive, send)


def console_of(request: Request) -> Console:
    console = request.app.state.console
    assert isinstance(console, Console)
    return console


def user_of(request: Request) -> ConsoleUser:
    principal = request.scope.get(PRINCIPAL)
    if not isinstance(principal, ConsoleUser):
        raise ApiError(401, "LOGIN_REQUIRED", "a login is required")
    return principal


def requires(
    role: Role, *, needs_cluster: bool = True
) -> Callable[[Request], Awaitable[ConsoleUser]]:
    """Returns a dependency that admits users with this role or a higher one.

    While no broker can be reached, routes that need the cluster respond at once with the reason.

    A route that takes POST and changes nothing (a search) uses READ: it is not audited, and works
    in a read-only console.
    """

    async def check(request: Request) -> ConsoleUser:
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
ListQueryDep = Annotated[ListQuery, Query()]
Reader = Depends(requires(Role.READ))
LocalReader = Depends(requires(Role.READ, needs_cluster=False))
Operator = Depends(requires(Role.OPERATE))
Administrator = Depends(requires(Role.ADMIN))


class ClusterRoute(APIRoute):
    """Ends a read with the reason when the cluster becomes unreachable while the read waits.

    A change is not interrupted: it may have reached the cluster, and its own timeout applies.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[object, object, Response]]:
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
