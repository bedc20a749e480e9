"""The client of the JSON API that the pages use, inside the process.

Requests do not pass a socket: `InProcessTransport` calls the ASGI application with the identity of
the user. Unlike httpx's own ASGI transport it returns a response while it is being produced, as
server-sent events need it.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx
from starlette.types import ASGIApp, Message, Scope

from barnabas.console.security.guard import PRINCIPAL
from barnabas.console.security.identity import ConsoleUser

BASE_URL = "http://console/api/v1"
JsonObject = dict[str, Any]
"""A JSON object of the API. Its fields are those of a class in `console.models`."""


class ApiCallError(Exception):
    """The API answered with an error; the text is for the user."""

    def __init__(self, status: int, code: str, message: str, cause: str | None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.cause = cause


class ApiClient:
    """Calls the API as one user. Paths are relative to /api/v1."""

    def __init__(self, app: ASGIApp, identify: Callable[[], ConsoleUser | None]) -> None:
        """`identify` returns the user, or None after the session has ended."""
        self.principal = identify()
        transport = InProcessTransport(app, identify)
        self._http = httpx.AsyncClient(transport=transport, base_url=BASE_URL, timeout=None)

    async def get(self, path: str, /, **query: object) -> Any:
        return await self.request("GET", path, query=query)

    async def request(
        self,
        method: str,
        path: str,
        *,
        body: object = None,
        query: Mapping[str, object] | None = None,
    ) -> Any:
        """Sends a request and returns the decoded body.

        Raises:
            ApiCallError: The status is 400 or more.
        """
        given = {key: _text(value) for key, value in (query or {}).items() if value is not None}
        response = await self._http.request(
            method, path, params=given or None, json=body if body is not None else None
        )
        if response.status_code >= 400:
            raise _error_of(response.status_code, response.content)
        return response.json() if response.content else None

    async def send_content(
        self, path: str, content: bytes, query: Mapping[str, object] | None = None
    ) -> Any:
        """Posts the bytes of a file and returns the decoded body.

        Raises:
            ApiCallError: The status is 400 or more.
        """
        given = {key: _text(value) for key, value in (query or {}).items() if value is not None}
        response = await self._http.post(path, params=given or None, content=content)
        if response.status_code >= 400:
            raise _error_of(response.status_code, response.content)
        return response.json()

    @asynccontextmanager
    async def stream(
        self,
        method: str,
        path: str,
        *,
        body: object = None,
        query: Mapping[str, object] | None = None,
    ) -> AsyncIterator[httpx.Response]:
        """Opens a response whose body is read piece by piece (downloads)."""
        given = {key: _text(value) for key, value in (query or {}).items() if value is not None}
        async with self._http.stream(method, path, params=given or None, json=body) as response:
            if response.status_code >= 400:
                raise _error_of(response.status_code, await response.aread())
            yield response

    async def events(
        self,
        path: str,
        *,
        method: str = "GET",
        body: object = None,
        query: Mapping[str, object] | None = None,
    ) -> AsyncIterator[Any]:
        """Yields the decoded values of a stream of server-sent events.

        Raises:
            ApiCallError: The request is rejected, or the stream sends an error event.
        """
        async with self.stream(method, path, body=body, query=query) as response:
            name = "message"
            async for line in response.aiter_lines():
                if line.startswith("event: "):
                    name = line[7:]
                elif line.startswith("data: "):
                    value = json.loads(line[6:])
                    if name == "error":
                        raise ApiCallError(503, value["code"], value["message"], value["cause"])
                    if name == "end":
                        return
                    yield value
                    name = "message"


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _error_of(status: int, content: bytes) -> ApiCallError:
    try:
        body = json.loads(content)
        return ApiCallError(status, body["code"], body["message"], body.get("cause"))
    except (ValueError, KeyError, TypeError):
        return ApiCallError(status, f"HTTP_{status}", "the API returned no readable error", None)


class InProcessTransport(httpx.AsyncBaseTransport):
    """Calls an ASGI application; the response body is a stream."""

    def __init__(self, app: ASGIApp, identify: Callable[[], ConsoleUser | None]) -> None:
        self._app = app
        self._identify = identify

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        content = await request.aread()
        call = _Call(content)
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": request.method,
            "scheme": "http",
            "path": request.url.path,
            "raw_path": request.url.raw_path.split(b"?")[0],
            "query_string": request.url.query,
            "root_path": "",
            "headers": [(name.lower(), value) for name, value in request.headers.raw],
            "client": ("in-process", 0),
            "server": ("console", 80),
            PRINCIPAL: self._identify(),
        }
        task = asyncio.create_task(self._run(scope, call))
        call.task = task
        try:
            start = await call.messages.get()
        except asyncio.CancelledError:
            task.cancel()  # the page was closed
            raise
        if start is None:
            await task  # raises the exception of the application
            raise httpx.RemoteProtocolError("the application sent no response")
        return httpx.Response(start["status"], headers=start["headers"], stream=call)

    async def _run(self, scope: Scope, call: "_Call") -> None:
        try:
            await self._app(scope, call.receive, call.send)
        finally:
            await call.messages.put(None)


class _Call(httpx.AsyncByteStream):
    """One request: its body, the messages of the response, and the task that produces them."""

    def __init__(self, content: bytes) -> None:
        self._content: bytes | None = content
        self._disconnected = asyncio.Event()
        # A small queue: the application waits while the page has not read what was sent.
        self.messages: asyncio.Queue[Message | None] = asyncio.Queue(maxsize=16)
        self.task: asyncio.Task[None] | None = None

    async def receive(self) -> Message:
        if self._content is not None:
            content, self._content = self._content, None
            return {"type": "http.request", "body": content, "more_body": False}
        await self._disconnected.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        await self.messages.put(message)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while (message := await self.messages.get()) is not None:
            if message.get("body"):
                yield message["body"]
            if not message.get("more_body"):
                return

    async def aclose(self) -> None:
        self._disconnected.set()
        if self.task is not None and not self.task.done():
            self.task.cancel()
            # Not `await self.task`: its CancelledError would look like one of this task.
            await asyncio.wait({self.task})
            if not self.task.cancelled():
                self.task.result()
