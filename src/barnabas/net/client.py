"""A client connection on an event loop: sends requests and receives their responses.

The clients choose brokers, retry and handle topics. `client_opening` opens connections and finds
the reasons of failures. Every failure is raised as `UnavailableError`, `DeadlineError` or
`ProtocolError`, and a connection stays closed after a failure.
"""

import asyncio
import math
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from barnabas.model.errors import BarnabasError, DeadlineError, ProtocolError, UnavailableError
from barnabas.net.client_opening import agree_on_versions, connect, log_in
from barnabas.net.client_protocol import ClientProtocol, FrameReceiver
from barnabas.net.connection_options import Address, ConnectionOptions
from barnabas.net.version_agreement import VersionRanges, choose_version, version_ranges
from barnabas.runtime.lazy_timer import LazyTimer
from barnabas.wire.message import Message
from barnabas.wire.messages.api_versions import ApiVersionsResponse
from barnabas.wire.primitives import Part

_RETIRE_POLL_S = 0.1

OnAnswer = Callable[[Any, BarnabasError | None], None]
"""Called once, on the loop, with the response or with an error."""


class Waiting(NamedTuple):
    """A request without a response yet, and its deadline in the loop's time."""

    on_answer: OnAnswer
    request: type[Message]
    limit_s: float
    due_s: float


class ClientConnection(asyncio.BufferedProtocol):
    """One connection to one broker, owned by one event loop.

    Lifecycle: `await ClientConnection.open(...)`, any number of `send`s in flight at once,
    `close()`. `versions` holds what the broker answered to ApiVersions.
    """

    def __init__(self, address: Address, options: ConnectionOptions) -> None:
        self.address = address
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
        self._writable = asyncio.Event()
        self._writable.set()

    @classmethod
    async def open(cls, address: Address, options: ConnectionOptions) -> "ClientConnection":
        """Connects and exchanges ApiVersions; the error of a failure names its cause."""
        connection = cls(address, options)
        try:
            async with asyncio.timeout(options.connect_timeout_s):
                await connect(connection, address, options)
                submit, tls = connection.submit, options.tls is not None
                connection._served(await agree_on_versions(submit, address, tls=tls))
                if options.login is not None:
                    served = connection.versions
                    session_s = await log_in(submit, options.login, served, address)
                    if session_s:
                        connection._loop.call_later(session_s, connection._retire)
        except TimeoutError:
            connection.close()
            raise DeadlineError(
                f"{address} did not answer within {options.connect_timeout_s:g} s"
            ) from None
        except BaseException:
            connection.close()
            raise
        return connection

    @property
    def closed(self) -> bool:
        """Whether it takes no more requests: it is closed, or will be because its session ends."""
        return self._failure is not None or self._retiring

    @property
    def in_flight(self) -> int:
        return len(self._waiting)

    def version_of(self, request: type[Message]) -> int:
        """Returns the highest version of a request that both sides support."""
        return choose_version(request, self.versions, self.address)

    async def send(
        self, request: Message, *, version: int | None = None, timeout_s: float | None = None
    ) -> Any:
        """Sends a request and waits for its response."""
        limit = self._options.request_timeout_s if timeout_s is None else timeout_s
        future = self.submit(request, version=version)
        try:
            async with asyncio.timeout(limit):
                await self._writable.wait()
                return await future
        except TimeoutError:
            raise self._overdue(type(request).__name__, limit) from None

    def submit(
        self, request: Message, *, version: int | None = None, timeout_s: float | None = None
    ) -> asyncio.Future[Message]:
        """Sends a request, returns a future; raises immediately if the connection is closed.

        With `timeout_s`, a response after the timeout fails the connection and the future.
        """
        future: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self.ask(request, partial(_settle, future), version=version, timeout_s=timeout_s)
        return future

    def ask(
        self,
        request: Message,
        on_answer: OnAnswer,
        *,
        version: int | None = None,
        timeout_s: float | None = None,
    ) -> None:
        """As `submit`, with a callback that is called directly when the response is read.

        This avoids one iteration of the loop, for callers that need low latency.
        """
        if self._failure is not None:
            raise self._failure
        chosen = self.version_of(type(request)) if version is None else version
        parts = self._protocol.send(request, chosen)
        limit_s = math.inf if timeout_s is None else timeout_s
        due_s = self._loop.time() + limit_s
        self._waiting.append(Waiting(on_answer, type(request), limit_s, due_s))
        if timeout_s is not None:
            self._deadlines.set(due_s)
        self._write(parts)

    def post(self, request: Message, *, version: int | None = None) -> None:
        """Sends a request that has no response (Produce with acks=0)."""
        if self._failure is not None:
            raise self._failure
        chosen = self.version_of(type(request)) if version is None else version
        self._write(self._protocol.send(request, chosen, answered=False))

    def close(self) -> None:
        """Closes immediately; pending requests fail with UnavailableError."""
        self._fail(UnavailableError(f"the connection to {self.address} was closed"))

    # -- callbacks of asyncio ------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._receiver.buffer()

    def buffer_updated(self, nbytes: int) -> None:
        try:
            for frame in self._receiver.filled(nbytes):
                response = self._protocol.receive(frame)
                self._waiting.popleft().on_answer(response, None)
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
        self._transport.writelines(parts)  # type: ignore[arg-type]
        self.last_used_s = self._loop.time()

    def _fail(self, error: BarnabasError) -> None:
        if self._failure is None:
            self._failure = error
            self._deadlines.cancel()
        if self._transport is not None:
            self._transport.abort()
            self._transport = None
        while self._waiting:
            self._waiting.popleft().on_answer(None, error)
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
