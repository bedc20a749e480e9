"""HTTP endpoints of a broker, and the server for them.

- /metrics: all metrics as text for Prometheus.
- /healthz: whether the process should be restarted (liveness): 200 while the loop responds and a
  log directory works.
- /readyz: whether clients should be sent here (readiness): started, registered, not shutting down,
  and all replicas of this broker in sync. Log directories that cannot be written are warnings, see
  `HttpEndpoints.warnings`.
- /status: a summary as JSON.

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
from dataclasses import asdict, dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from time import perf_counter_ns
from typing import Any, cast
from urllib.parse import urlsplit

from barnabas.broker.listeners import Listeners
from barnabas.broker.metrics.broker_metrics import BrokerMetrics
from barnabas.broker.metrics.exposition import Exposition
from barnabas.broker.services import Services
from barnabas.model.errors import ConfigError
from barnabas.model.version import VERSION
from barnabas.runtime.clock import Clock
from barnabas.zk.tree import MetadataTree, SessionState

_logger = logging.getLogger("barnabas.broker.http")
# Any peer may connect: a flood of requests must not occupy more threads.
_MAX_REQUESTS = 16
_SOCKET_TIMEOUT_S = 10.0
_REPLY_TIMEOUT_S = 10.0
_JSON = "application/json"
_TEXT = "text/plain; charset=utf-8"
_LAG_SAMPLE_S = 0.5


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
        self._thread: threading.Thread | None = None

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
        self._thread = threading.Thread(
            target=self._server.serve, name="barnabas-http", daemon=True
        )
        self._thread.start()

    async def stop(self) -> None:
        if self._server is not None and self._thread is not None:
            server, self._server = self._server, None
            server.end()
            # On a thread: the serving thread may wait for this loop.
            await asyncio.get_running_loop().run_in_executor(None, self._thread.join)
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
        self._ended = False
        super().__init__(address, _Handler)

    def serve(self) -> None:
        """Accepts connections until `end`.

        Unlike `serve_forever`, it does not wake up several times a second: every time, the broker's
        loop would wait for the interpreter lock.
        """
        while not self._ended:
            self.handle_request()

    def end(self) -> None:
        self._ended = True
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)  # wakes the thread that waits in `serve`

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

    def handle_error(self, request: object, client_address: object) -> None:
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
        self._reject_method()

    do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do_POST

    def _reject_method(self) -> None:
        self.close_connection = True  # the body of the request is not read
        self.send_response(HTTPStatus.METHOD_NOT_ALLOWED)
        self.send_header("Allow", "GET, HEAD")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
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


class HttpEndpoints:
    """The endpoints of one broker; owned by its loop."""

    def __init__(
        self, metrics: BrokerMetrics, clock: Clock, listeners: Listeners, failed: asyncio.Event
    ) -> None:
        self._metrics = metrics
        self._exposition = Exposition(metrics.registry, clock)
        self._listeners = listeners
        self._failed = failed
        self._services: Services | None = None
        self._tree: MetadataTree | None = None

    def observe(self, services: Services, tree: MetadataTree) -> None:
        """Called when the parts of the broker exist."""
        self._services, self._tree = services, tree

    def table(self) -> Mapping[str, Endpoint]:
        """Returns the endpoints by their paths."""
        return {
            "/": self._index,
            "/metrics": self._metrics_text,
            "/healthz": self._health,
            "/readyz": self._readiness,
            "/status": self._status,
        }

    async def _index(self, _accept: str) -> HttpReply:
        return HttpReply("".join(f"{path}\n" for path in self.table() if path != "/").encode())

    async def _metrics_text(self, accept: str) -> HttpReply:
        await self._metrics.refresh()
        text, content_type = await self._exposition.render(accept)
        return HttpReply(text, content_type)

    async def _health(self, _accept: str) -> HttpReply:
        if self._failed.is_set():
            text = b"every log directory is offline\n"
            return HttpReply(text, status=HTTPStatus.SERVICE_UNAVAILABLE)
        return HttpReply(b"ok\n")

    async def _readiness(self, _accept: str) -> HttpReply:
        await self._metrics.refresh()
        problems = self.problems()
        status = HTTPStatus.SERVICE_UNAVAILABLE if problems else HTTPStatus.OK
        body = {"ready": not problems, "problems": problems, "warnings": self.warnings()}
        return HttpReply.of_json(body, status)

    def problems(self) -> list[str]:
        """Returns the reasons why clients should not be sent to this broker."""
        services, tree = self._services, self._tree
        if self._failed.is_set():
            return ["every log directory is offline"]
        if services is None or tree is None or not self._metrics.is_running:
            stopping = self._metrics.state > 3
            return ["the broker is shutting down" if stopping else "the broker is starting"]
        found = []
        if tree.state is not SessionState.CONNECTED:
            found.append("the session on the metadata tree is not connected")
        counts = self._metrics.replicas
        behind = 0 if counts is None else counts.of("out_of_sync_here")
        if behind:
            found.append(f"{behind} replicas on this broker are not in sync")
        return found

    def warnings(self) -> list[str]:
        """Returns the log directories that are full or offline.

        They do not make the broker unready: consumers can still read, and the tools that delete
        records or topics to free space connect through the same service as all other clients.
        """
        if self._services is None:
            return []
        found = []
        for directory in self._services.logs.dirs:
            health = directory.health
            if health.failed:
                found.append(f"log directory {directory.path} is offline: {health.cause}")
            elif health.failing:
                reason = "the disk is full" if health.disk_full else "see the log"
                found.append(f"log directory {directory.path}: writes fail: {reason}")
        return found

    async def _status(self, _accept: str) -> HttpReply:
        await self._metrics.refresh()
        services = self._services
        status: dict[str, object] = {
            "version": VERSION,
            "state": {1: "starting", 3: "running"}.get(self._metrics.state, "stopping"),
            "problems": self.problems(),
            "warnings": self.warnings(),
            "listeners": {e.listener: f"{e.host}:{e.port}" for e in self._listeners.endpoints},
        }
        if services is not None:
            status.update(_summary(services, self._metrics))
        return HttpReply.of_json(status)

    async def sample_loop_lag(self) -> None:
        """Measures the delay of the loop's timers until the task is cancelled."""
        while True:
            started_ns = perf_counter_ns()
            await asyncio.sleep(_LAG_SAMPLE_S)
            late_ns = perf_counter_ns() - started_ns - int(_LAG_SAMPLE_S * 1e9)
            self._metrics.loop_lag.record(max(late_ns, 0))


def _summary(services: Services, metrics: BrokerMetrics) -> dict[str, object]:
    topics = metrics.topics
    counts = metrics.replicas
    assert counts is not None  # it exists as soon as the services do
    lags = metrics.lag.groups if metrics.lag is not None else {}
    return {
        "broker_id": services.broker_id,
        "cluster_id": services.cluster_id,
        "controller_id": services.metadata.controller_id,
        "brokers": sorted(broker.broker_id for broker in services.metadata.brokers()),
        "topics": counts.of("topics"),
        "partitions_led": counts.of("led"),
        "under_replicated": counts.of("under_replicated"),
        "records_in": topics.total("messages_in"),
        "bytes_in": topics.total("bytes_in"),
        "bytes_out": topics.total("bytes_out"),
        "groups": {name: asdict(lag) for name, lag in sorted(lags.items())},
    }
