"""The first steps of a client connection: connect, exchange ApiVersions, log in.

The functions do not access the connection: they get its protocol object, or the function that sends
a request (`Submit`). Errors name the cause: connection refused, a port with another protocol, an
invalid certificate, a rejected login.
"""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Protocol

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, ProtocolError, UnavailableError
from barnabas.net.connection_options import (
    SESSION_SHARE,
    Address,
    ConnectionOptions,
    Login,
    connect_problem,
)
from barnabas.net.diagnosis import diagnose, tls_failure
from barnabas.net.version_agreement import FIRST_API_VERSIONS, VersionRanges, versions_request
from barnabas.wire.message import Message
from barnabas.wire.messages.api_versions import ApiVersionsResponse


class Submit(Protocol):
    """Sends a request on the connection; the awaitable gives the response."""

    def __call__(self, request: Message, *, version: int) -> Awaitable[Message]: ...


async def connect(
    protocol: asyncio.BaseProtocol, address: Address, options: ConnectionOptions
) -> None:
    """Connects the protocol object to the address, on the running loop."""
    tls = options.tls
    hostname = address.host if tls else None
    create = partial(
        asyncio.get_running_loop().create_connection,
        lambda: protocol,
        ssl=tls,
        server_hostname=hostname,
    )
    try:
        if options.sets_buffers:
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
    try:
        found = await loop.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    except RuntimeError:  # the interpreter exits, as in `_connect_by_name`
        found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
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


async def agree_on_versions(submit: Submit, address: Address, *, tls: bool) -> ApiVersionsResponse:
    """Returns the broker's ApiVersions response; diagnoses the peer if there is none."""
    try:
        response = await _ask_versions(submit, FIRST_API_VERSIONS)
        if response.error_code == ErrorCode.UNSUPPORTED_VERSION:
            response = await _ask_versions(submit, 0)
    except (UnavailableError, ProtocolError) as error:
        if isinstance(error.__cause__, ssl.SSLError):
            raise await _tls_failure(address, error.__cause__) from error
        raise await _diagnosed(address, tls=tls) from error
    return response


async def log_in(submit: Submit, login: Login, served: VersionRanges, address: Address) -> float:
    """Logs in; returns the seconds after which the connection must be replaced, 0 for never."""
    if login.needs_prepare:  # may send a request to a token endpoint, so not on the loop
        await asyncio.get_running_loop().run_in_executor(None, login.prepare)
    steps = login.requests(served, address)
    answer = None
    try:
        while True:
            request, version = steps.send(answer)
            answer = await submit(request, version=version)
    except StopIteration as over:
        return float(over.value * SESSION_SHARE / 1000)


async def _ask_versions(submit: Submit, version: int) -> ApiVersionsResponse:
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
