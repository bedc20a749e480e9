"""A client connection on an event loop: sends requests and receives their responses.

The clients choose brokers, retry and handle topics. Every failure is raised as `UnavailableError`,
`DeadlineError` or `ProtocolError`, and a connection stays closed after a failure.

The functions that open a connection (connect, exchange ApiVersions, log in) do not access
`ClientConnection`: they get its protocol object, or the function that sends a request (`Submit`).
Errors name the cause: connection refused, a port with another protocol, an invalid certificate, a
rejected login.
"""

import asyncio
import math
import socket
import ssl
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol, cast

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, DeadlineError, ProtocolError, UnavailableError
from barnabas.net._frame_receiver_hot import FrameReceiver
from barnabas.net.client_protocol import (
    FIRST_API_VERSIONS,
    ClientProtocol,
    VersionRanges,
    choose_version,
    version_ranges,
    versions_request,
)
from barnabas.net.client_transport import ClientTransport, ResponseProtocol
from barnabas.net.connection_meters import ConnectionMeters
from barnabas.net.connection_options import (
    MIN_REAUTHENTICATION_S,
    SESSION_SHARE,
    Address,
    ConnectionOptions,
    Login,
    connect_problem,
)
from barnabas.net.diagnosis import diagnose, tls_failure
from barnabas.runtime.lazy_timer import LazyTimer
from barnabas.wire._produce_hot import SingleBatchForm
from barnabas.wire.message import Message, Request, ResponseT
from barnabas.wire.messages.api_versions import ApiVersionsResponse
from barnabas.wire.messages.produce import ProduceRequest
from barnabas.wire.primitives import Part

_RETIRE_POLL_S = 0.1
AddressInfo = tuple[int, int, int, str, tuple[Any, ...]]
"""An entry of getaddrinfo: family, type, protocol, canonical name, address."""
OnResponse = Callable[[Any, BarnabasError | None], None]
"""Called once, on the loop, with the response or with an error."""


# --- Opening --------------------------------------------------------------------------------------


class Submit(Protocol):
    """Sends a request on the connection; the awaitable gives the response."""

    def __call__(self, request: Message, *, version: int) -> Awaitable[Message]: ...


async def connect(protocol: ResponseProtocol, address: Address, options: ConnectionOptions) -> None:
    """Connects the protocol object to the address, on the running loop."""
    loop, tls = asyncio.get_running_loop(), options.tls
    hostname = address.host if tls else None
    create = partial(loop.create_connection, lambda: protocol, ssl=tls, server_hostname=hostname)
    try:
        if tls is None and isinstance(loop, asyncio.SelectorEventLoop):
            ClientTransport(loop, await _connect_socket(address, options), protocol)
        elif options.sets_buffers:
            await create(sock=await _connect_socket(address, options))
        else:
            await _connect_by_name(create, address)
    except OSError as error:
        if tls is not None and not isinstance(error, ConnectionRefusedError):
            raise await _tls_failure(address, error) from error
        raise UnavailableError(f"cannot connect to {address}: {connect_problem(error)}") from error


async def _connect_by_name(create: Callable[..., Awaitable[object]], address: Address) -> None:
    try:
        await create(host=address.host, port=address.port)
    except RuntimeError:
        # While the interpreter exits no thread can be started that resolves the name.
        found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
        await create(host=str(found[0][4][0]), port=address.port)


async def _connect_socket(address: Address, options: ConnectionOptions) -> socket.socket:
    """Connects to the first reachable address of the host, with the buffer sizes set before."""
    loop = asyncio.get_running_loop()
    found = await _resolve(address)
    problem: OSError | None = None
    for family, _, _, _, target in found:
        sock = options.new_socket(family)
        sock.setblocking(False)
        try:
            await loop.sock_connect(sock, target)
        except OSError as error:
            sock.close()
            problem = error
        except BaseException:
            sock.close()
            raise
        else:
            return sock
    raise problem or OSError(f"{address.host} has no address")


async def _resolve(address: Address) -> Sequence[AddressInfo]:
    numeric = partial(socket.getaddrinfo, address.host, address.port, type=socket.SOCK_STREAM)
    try:
        return numeric(flags=socket.AI_NUMERICHOST)  # needs no thread
    except socket.gaierror:
        pass
    loop = asyncio.get_running_loop()
    try:
        return await loop.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    except RuntimeError:  # the interpreter exits, as in `_connect_by_name`
        return numeric()


async def agree_on_versions(submit: Submit, address: Address, *, tls: bool) -> ApiVersionsResponse:
    """Returns the broker's ApiVersions response; diagnoses the peer if there is none."""
    try:
        response = await _request_versions(submit, FIRST_API_VERSIONS)
        if response.error_code == ErrorCode.UNSUPPORTED_VERSION:
            response = await _request_versions(submit, 0)
    except (UnavailableError, ProtocolError) as error:
        if isinstance(error.__cause__, ssl.SSLError):
            raise await _tls_failure(address, error.__cause__) from error
        raise await _diagnosed(address, tls=tls) from error
    return response


async def log_in(submit: Submit, login: Login, served: VersionRanges, address: Address) -> float:
    """Logs in; returns the seconds after which the client must log in again, 0 for never."""
    if login.needs_prepare:  # may send a request to a token endpoint, so not on the loop
        await asyncio.get_running_loop().run_in_executor(None, login.prepare)
    steps = login.requests(served, address)
    response = None
    try:
        while True:
            request, version = steps.send(response)
            response = await submit(request, version=version)
    except StopIteration as over:
        return float(over.value * SESSION_SHARE / 1000)


async def _request_versions(submit: Submit, version: int) -> ApiVersionsResponse:
    response = await submit(versions_request(), version=version)
    assert isinstance(response, ApiVersionsResponse)
    return response


async def _tls_failure(address: Address, error: OSError) -> BarnabasError:
    failure = tls_failure(address, error)
    if failure.retriable:  # the error does not name a cause
        cause = await _diagnosed(address, tls=True)
        return failure if cause.retriable else cause
    return failure


async def _diagnosed(address: Address, *, tls: bool) -> BarnabasError:
    try:
        return await asyncio.to_thread(diagnose, address, tls=tls)
    except RuntimeError:  # no thread can be started while the interpreter exits
        return diagnose(address, tls=tls)


# --- Connection -----------------------------------------------------------------------------------


class Waiting(NamedTuple):
    """A request without a response yet; `sent_s` and its deadline are in the loop's time."""

    on_response: OnResponse
    request: type[Message]
    limit_s: float
    due_s: float
    sent_s: float


class _HeldRequest(NamedTuple):
    """A request that is sent after the re-authentication; `on_response` is None if it has no
    response."""

    request: Message
    on_response: OnResponse | None
    version: int | None
    timeout_s: float | None


class ClientConnection(ResponseProtocol):
    """One connection to one broker, owned by one event loop.

    Lifecycle: `await ClientConnection.open(...)`, any number of `send`s in flight at once,
    `close()`. `versions` are the version ranges in the broker's ApiVersions response.
    """

    def __init__(
        self,
        address: Address,
        options: ConnectionOptions,
        meters: ConnectionMeters | None = None,
    ) -> None:
        self.address = address
        self._meters = meters or ConnectionMeters()
        self.versions: VersionRanges = {}
        self.features: dict[str, int] = {}
        self.last_used_s = 0.0
        self._options = options
        self._protocol = ClientProtocol(options.client_id)
        self._receiver = FrameReceiver()
        self._waiting: deque[Waiting] = deque()
        self._loop = asyncio.get_running_loop()
        self._deadlines = LazyTimer(self._loop, self._check_deadlines)
        self._transport: asyncio.Transport | None = None
        self._failure: BarnabasError | None = None
        self._retiring = False
        # A list during a re-authentication, when only the requests of the login may be sent.
        self._held: list[_HeldRequest] | None = None
        self._login_timer: asyncio.TimerHandle | None = None
        self._login_task: asyncio.Task[None] | None = None
        self._writable = asyncio.Event()
        self._writable.set()

    @classmethod
    async def open(
        cls,
        address: Address,
        options: ConnectionOptions,
        meters: ConnectionMeters | None = None,
    ) -> "ClientConnection":
        """Connects and exchanges ApiVersions; the error of a failure names its cause."""
        connection = cls(address, options, meters)
        try:
            async with asyncio.timeout(options.connect_timeout_s):
                await connect(connection, address, options)
                submit, tls = connection.submit, options.tls is not None
                connection._served(await agree_on_versions(submit, address, tls=tls))
                await connection._log_in(submit)
        except TimeoutError:
            connection.close()
            raise DeadlineError(
                f"{address} did not respond within {options.connect_timeout_s:g} s"
            ) from None
        except BaseException:
            connection.close()
            raise
        return connection

    @property
    def closed(self) -> bool:
        """Whether it accepts no more requests: it is closed, or will be because its session
        ends.
        """
        return self._failure is not None or self._retiring

    @property
    def ready(self) -> bool:
        """Whether a request is sent at once: it is open and does not authenticate again."""
        return self._failure is None and self._held is None and not self._retiring

    @property
    def in_flight(self) -> int:
        return len(self._waiting)

    def version_of(self, request: type[Message]) -> int:
        """Returns the highest version of a request that both sides support."""
        return choose_version(request, self.versions, self.address)

    async def send(
        self,
        request: Request[ResponseT],
        *,
        version: int | None = None,
        timeout_s: float | None = None,
    ) -> ResponseT:
        """Sends a request and waits for its response."""
        limit = self._options.request_timeout_s if timeout_s is None else timeout_s
        future = self.submit(request, version=version)
        try:
            async with asyncio.timeout(limit):
                await self._writable.wait()
                # The reader decodes the frame as the response class of the request.
                return cast("ResponseT", await future)
        except TimeoutError:
            raise self._overdue(type(request).__name__, limit) from None

    def submit(
        self, request: Message, *, version: int | None = None, timeout_s: float | None = None
    ) -> asyncio.Future[Message]:
        """Sends a request, returns a future; raises immediately if the connection is closed.

        With `timeout_s`, a response after the timeout fails the connection and the future.
        """
        future: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self.submit_with_callback(
            request, partial(_settle, future), version=version, timeout_s=timeout_s
        )
        return future

    def submit_with_callback(
        self,
        request: Message,
        on_response: OnResponse,
        *,
        version: int | None = None,
        timeout_s: float | None = None,
    ) -> None:
        """Does the same as `submit`, but calls a callback directly when the response is read.

        This avoids one iteration of the loop, for callers that need low latency.
        """
        if self._failure is not None:
            raise self._failure
        if self._held is not None:
            self._held.append(_HeldRequest(request, on_response, version, timeout_s))
            return
        self._submit(request, on_response, version, timeout_s)

    def _submit(
        self,
        request: Message,
        on_response: OnResponse,
        version: int | None,
        timeout_s: float | None = None,
    ) -> None:
        chosen = self.version_of(type(request)) if version is None else version
        parts = self._protocol.send(request, chosen)
        limit_s = math.inf if timeout_s is None else timeout_s
        now_s = self._loop.time()
        due_s = now_s + limit_s
        self._waiting.append(Waiting(on_response, type(request), limit_s, due_s, now_s))
        if timeout_s is not None:
            self._deadlines.set(due_s)
        self._write(parts)

    def single_form(self, version: int, head: bytes, tail: bytes) -> SingleBatchForm:
        """Returns the form of Produce requests with one batch between these bytes of the body."""
        return self._protocol.single_form(version, head, tail)

    def submit_batch(
        self,
        form: SingleBatchForm,
        batch: bytearray,
        on_response: OnResponse,
        now_s: float,
        timeout_s: float,
    ) -> None:
        """Sends a Produce request with one batch; the connection must be `ready`.

        The response is an AppendedBatch, or a ProduceResponse if the batch was not appended.
        """
        frame = self._protocol.send_batch(form, batch)
        due_s = now_s + timeout_s
        self._waiting.append(Waiting(on_response, ProduceRequest, timeout_s, due_s, now_s))
        self._deadlines.set(due_s)
        assert self._transport is not None
        self._transport.write(frame)
        self._meters.requests.record(len(frame))
        self.last_used_s = now_s

    def post(self, request: Message, *, version: int | None = None) -> None:
        """Sends a request that has no response (Produce with acks=0)."""
        if self._failure is not None:
            raise self._failure
        if self._held is not None:
            self._held.append(_HeldRequest(request, None, version, None))
            return
        chosen = self.version_of(type(request)) if version is None else version
        self._write(self._protocol.send(request, chosen, expects_response=False))

    def close(self) -> None:
        """Closes immediately; pending requests fail with UnavailableError."""
        self._fail(UnavailableError(f"the connection to {self.address} was closed"))

    # -- callbacks of asyncio ------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._receiver.buffer()

    @property
    def missing_bytes(self) -> int:
        return self._receiver.missing_bytes

    def receive_rest(self, fd: int) -> int:
        return self._receiver.receive_rest(fd)

    def buffer_updated(self, nbytes: int) -> None:
        try:
            for frame in self._receiver.filled(nbytes):
                response = self._protocol.receive(frame)
                waiting = self._waiting.popleft()
                took_s = self._loop.time() - waiting.sent_s
                waiting.on_response(response, None)
                self._meters.received(len(frame), took_s)
        except ProtocolError as error:
            self._fail(ProtocolError(f"{self.address}: {error}"))

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def connection_lost(self, exc: Exception | None) -> None:
        cause = f": {exc}" if exc is not None else ""
        error = UnavailableError(f"{self.address} closed the connection{cause}")
        error.__cause__ = exc
        self._fail(error)

    # -- internal ------------------------------------------------------------------------------

    def _served(self, response: ApiVersionsResponse) -> None:
        self.versions = version_ranges(response)
        self.features = {item.name: item.max_version_level for item in response.finalized_features}

    # -- login and re-authentication (KIP-368) -------------------------------------------------

    async def _log_in(self, submit: Submit) -> None:
        """Logs in, if the options have a login, and schedules the next time."""
        login = self._options.login
        if login is None:
            return
        session_s = await log_in(submit, login, self.versions, self.address)
        if session_s >= MIN_REAUTHENTICATION_S:
            self._login_timer = self._loop.call_later(session_s, self._start_login)
        elif session_s:
            self._login_timer = self._loop.call_later(session_s, self._retire)

    def _start_login(self) -> None:
        if self._failure is None:
            self._login_task = self._loop.create_task(self._log_in_again())

    async def _log_in_again(self) -> None:
        """Authenticates again on this connection; other requests are sent afterwards."""
        login = self._options.login
        assert login is not None
        try:
            if login.needs_prepare:  # fetches a token while requests can still be sent
                await self._loop.run_in_executor(None, login.prepare)
            if self._failure is not None:
                return
            self._held = []
            started_s = self._loop.time()
            async with asyncio.timeout(self._options.request_timeout_s):
                await self._log_in(self._submit_login)
            self._meters.reauthenticated(self._loop.time() - started_s)
        except TimeoutError:
            self._meters.failed_reauthentications.record(1)
            limit_s = self._options.request_timeout_s
            self._fail(DeadlineError(f"{self.address} did not re-authenticate in {limit_s:g} s"))
        except BarnabasError as error:
            self._meters.failed_reauthentications.record(1)
            # The next connection fails with the same error if the credentials are not valid.
            self._fail(UnavailableError(f"{self.address}: re-authentication failed: {error}"))
        else:
            self._send_held()

    def _submit_login(self, request: Message, *, version: int) -> asyncio.Future[Message]:
        if self._failure is not None:
            raise self._failure
        future: asyncio.Future[Message] = self._loop.create_future()
        self._submit(request, partial(_settle, future), version)
        return future

    def _send_held(self) -> None:
        held, self._held = self._held or [], None
        for request, on_response, version, timeout_s in held:
            if self._failure is not None:
                if on_response is not None:
                    on_response(None, self._failure)
            elif on_response is None:
                self.post(request, version=version)
            else:
                self.submit_with_callback(
                    request, on_response, version=version, timeout_s=timeout_s
                )

    def _retire(self) -> None:
        """Accepts no more requests and closes after the last response."""
        self._retiring = True
        if not self._waiting:
            self.close()
        else:
            asyncio.get_running_loop().call_later(_RETIRE_POLL_S, self._retire)

    def _check_deadlines(self) -> None:
        """Fails if a response is overdue; otherwise schedules a check at the next deadline."""
        due_s = min((waiting.due_s for waiting in self._waiting), default=math.inf)
        if due_s > self._loop.time():
            if due_s < math.inf:
                self._deadlines.set(due_s)
            return
        late = next(waiting for waiting in self._waiting if waiting.due_s == due_s)
        self._overdue(late.request.__name__, late.limit_s)

    def _overdue(self, name: str, limit_s: float) -> DeadlineError:
        """Fails the connection: a late response could be taken for that of the next request."""
        error = DeadlineError(f"{self.address} did not answer {name} within {limit_s:g} s")
        self._fail(error)
        return error

    def _write(self, parts: list[Part]) -> None:
        assert self._transport is not None
        self._transport.writelines(parts)  # type: ignore[arg-type]  # any buffer is accepted
        self._meters.requests.record(sum(map(len, parts)))
        self.last_used_s = self._loop.time()

    def _fail(self, error: BarnabasError) -> None:
        if self._failure is None:
            self._failure = error
            self._deadlines.cancel()
        if self._transport is not None:
            self._transport.abort()
            self._transport = None
        if self._login_timer is not None:
            self._login_timer.cancel()
        while self._waiting:
            self._waiting.popleft().on_response(None, error)
        held, self._held = self._held or [], None
        for request in held:
            if request.on_response is not None:
                request.on_response(None, error)
        self._writable.set()


def _settle(
    future: "asyncio.Future[Message]", response: Message | None, error: BarnabasError | None
) -> None:
    if future.done():
        return
    if response is not None:
        future.set_result(response)
    elif error is not None:
        future.set_exception(error)
        future.exception()  # avoids a warning of asyncio if no caller waits any more
