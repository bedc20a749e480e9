"""HTTP endpoints of a broker: /metrics, /healthz, /readyz, /status.

The server runs in threads of the standard library's HTTP server, so a slow client cannot delay the
broker. A thread computes nothing: it starts a coroutine on the broker's loop, which owns the state,
and writes its result. At most `_MAX_REQUESTS` requests run at a time.
"""

import asyncio
import contextlib
import json
import logging
import socket
import threading
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast
from urllib.parse import urlsplit

from barnabas.model.errors import ConfigError

_logger = logging.getLogger("barnabas.broker.http")
# Any peer may connect: a flood of requests must not occupy more threads.
_MAX_REQUESTS = 16
_SOCKET_TIMEOUT_S = 10.0
_REPLY_TIMEOUT_S = 10.0
_JSON = "application/json"
_TEXT = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True)
class HttpReply:
    """Response of an endpoint."""

    body: bytes | bytearray
    content_type: str = _TEXT
    status: HTTPStatus = HTTPStatus.OK

    @classmethod
    def of_json(cls, value: object, status: HTTPStatus = HTTPStatus.OK) -> "HttpReply":
        return cls(json.dumps(value, indent=2).encode() + b"\n", _JSON, status)


Endpoint = Callable[[str], Awaitable[HttpReply]]
"""Takes the Accept header of a request; runs on the broker's loop."""


def parse_http_listener(text: str) -> tuple[str, int]:
    """Returns host and port of `http.listener`; the host is loopback if only a port is given.

    >>> parse_http_listener("9404"), parse_http_listener("http://0.0.0.0:9404")
    (('127.0.0.1', 9404), ('0.0.0.0', 9404))

    Raises:
        ConfigError: The text is not `PORT`, `HOST:PORT` or `http://HOST:PORT`, or the port is too
            large.
    """
    value = text.strip()
    if value.isdecimal():
        value = f"127.0.0.1:{value}"
    parts = urlsplit(value if "//" in value else f"http://{value}")
    try:
        port = parts.port
    except ValueError as error:
        raise ConfigError(f"http.listener: {text!r}: the port must be 0 to 65535") from error
    if parts.scheme != "http" or parts.path.strip("/") or port is None:
        raise ConfigError(f"http.listener: {text!r} must look like 127.0.0.1:9404")
    return parts.hostname or "127.0.0.1", port


class HttpServer:
    """Serves endpoints of a broker; `start` and `stop` are called on the broker's loop."""

    def __init__(self, host: str, port: int, endpoints: Mapping[str, Endpoint]) -> None:
        self._address = (host, port)
        self._endpoints = endpoints
        self._server: _Server | None = None

    @property
    def url(self) -> str:
        """Address with the real port; valid after `start`."""
        assert self._server is not None
        host, port = self._server.server_address[:2]
        shown = f"[{host!s}]" if ":" in str(host) else str(host)
        return f"http://{shown}:{port}"

    def start(self) -> None:
        """Binds the port and serves in the background; raises OSError if the port is in use."""
        host, port = self._address
        try:
            self._server = _Server(self._address, asyncio.get_running_loop(), self._endpoints)
        except OSError as error:
            error.filename = f"{host}:{port}"
            raise
        threading.Thread(
            target=self._server.serve_forever, args=(0.1,), name="barnabas-http", daemon=True
        ).start()

    async def stop(self) -> None:
        if self._server is not None:
            server, self._server = self._server, None
            # On a thread: shutdown() waits for the serving thread, which may wait for this loop.
            await asyncio.get_running_loop().run_in_executor(None, server.shutdown)
            server.server_close()
            server.close_connections()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(
        self,
        address: tuple[str, int],
        loop: asyncio.AbstractEventLoop,
        endpoints: Mapping[str, Endpoint],
    ) -> None:
        if ":" in address[0]:
            self.address_family = socket.AF_INET6
        self.loop = loop
        self.endpoints = endpoints
        self.slots = threading.BoundedSemaphore(_MAX_REQUESTS)
        self._lock = threading.Lock()
        self._connections: set[socket.socket] = set()
        super().__init__(address, _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._lock:
            self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._connections.discard(request)
        super().shutdown_request(request)

    def close_connections(self) -> None:
        """Ends the connections that clients keep open, and with them their threads."""
        with self._lock:
            for connection in self._connections:
                with contextlib.suppress(OSError):  # the client has closed it
                    connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        _logger.debug("an HTTP request of %s failed", client_address, exc_info=True)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "barnabas"
    sys_version = ""
    timeout = _SOCKET_TIMEOUT_S

    def do_GET(self) -> None:
        self._serve(with_body=True)

    def do_HEAD(self) -> None:
        self._serve(with_body=False)

    def do_POST(self) -> None:
        self._refuse_method()

    do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do_POST

    def _refuse_method(self) -> None:
        self.close_connection = True  # the body of the request is not read
        self.send_response(HTTPStatus.METHOD_NOT_ALLOWED)
        self.send_header("Allow", "GET, HEAD")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        _logger.debug("%s %s", self.client_address[0], format % args)

    def _serve(self, *, with_body: bool) -> None:
        reply = self._reply(cast(_Server, self.server))
        self.send_response(reply.status)
        self.send_header("Content-Type", reply.content_type)
        self.send_header("Content-Length", str(len(reply.body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        if with_body:
            self.wfile.write(reply.body)

    def _reply(self, server: _Server) -> HttpReply:
        endpoint = server.endpoints.get(urlsplit(self.path).path.rstrip("/") or "/")
        if endpoint is None:
            known = " ".join(sorted(server.endpoints))
            return HttpReply(f"not found; see {known}\n".encode(), status=HTTPStatus.NOT_FOUND)
        if not server.slots.acquire(blocking=False):
            return HttpReply(b"too many requests\n", status=HTTPStatus.SERVICE_UNAVAILABLE)
        try:
            return self._run(server, endpoint)
        finally:
            server.slots.release()

    def _run(self, server: _Server, endpoint: Endpoint) -> HttpReply:
        async def call() -> HttpReply:
            return await endpoint(self.headers.get("Accept", ""))

        calling = call()
        try:
            future: Future[HttpReply] = asyncio.run_coroutine_threadsafe(calling, server.loop)
        except RuntimeError:  # the loop is closed
            calling.close()
            return HttpReply(b"stopped\n", status=HTTPStatus.SERVICE_UNAVAILABLE)
        try:
            return future.result(_REPLY_TIMEOUT_S)
        except FutureTimeoutError:
            future.cancel()
            return HttpReply(
                b"the event loop did not respond in time\n", status=HTTPStatus.SERVICE_UNAVAILABLE
            )
        except Exception as error:
            _logger.exception("the HTTP endpoint %s failed", self.path)
            message = f"{type(error).__name__}\n".encode()
            return HttpReply(message, status=HTTPStatus.INTERNAL_SERVER_ERROR)
