"""Errors as JSON: code, message and cause, never a traceback.

Errors of the cluster keep Kafka's name as their code. An unexpected exception is written to the log
of the console; the response says only that it happened.
"""

import logging

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from barnabas.console.models.common import ErrorBody
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


def _invalid_request(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    parts = [
        f"{'.'.join(str(part) for part in item['loc'])}: {item['msg']}" for item in error.errors()
    ]
    return error_response(422, "INVALID_REQUEST", "; ".join(parts))


def _http_error(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    code = _NAMES.get(error.status_code, f"HTTP_{error.status_code}")
    response = error_response(error.status_code, code, str(error.detail))
    response.headers.update(error.headers or {})
    return response


class UnexpectedErrors:
    """ASGI middleware: an exception that no handler knows becomes a response with status 500."""

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
