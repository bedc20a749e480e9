"""The first steps of a client connection: connect, agree on versions, log in.

Each failure leaves here with its cause named: a refused connection, a port that speaks something
else, a certificate that does not hold, a user that is not let in. What is asked of an open
connection is `client`'s.
"""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, ProtocolError, UnavailableError
from barnabas.net.connection_options import (
    SESSION_SHARE,
    Address,
    ConnectionOptions,
    connect_problem,
)
from barnabas.net.diagnosis import diagnose, tls_failure
from barnabas.net.version_agreement import FIRST_API_VERSIONS, versions_request
from barnabas.wire.messages.api_versions import ApiVersionsResponse

if TYPE_CHECKING:
    from barnabas.net.client import ClientConnection
    from barnabas.net.sasl_client import SaslLogin


async def connect(connection: "ClientConnection", options: ConnectionOptions) -> None:
    """Have the running loop connect it to its address."""
    address, tls = connection.address, options.tls
    hostname = address.host if tls else None
    create = partial(
        asyncio.get_running_loop().create_connection,
        lambda: connection,
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
    """Connect to the first address of the host that answers, with the buffer sizes set before."""
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


async def agree_on_versions(
    connection: "ClientConnection", options: ConnectionOptions
) -> ApiVersionsResponse:
    """What the broker says that it serves. Why one says nothing of the kind is looked into."""
    try:
        response = await _ask_versions(connection, FIRST_API_VERSIONS)
        if response.error_code == ErrorCode.UNSUPPORTED_VERSION:
            response = await _ask_versions(connection, 0)
    except (UnavailableError, ProtocolError) as error:
        if isinstance(error.__cause__, ssl.SSLError):
            raise await _tls_failure(connection.address, error.__cause__) from error
        tls = options.tls is not None
        raise await _diagnosed(connection.address, tls=tls) from error
    return response


async def log_in(connection: "ClientConnection", login: "SaslLogin") -> float:
    """Log in; in how many seconds another connection should take its place, 0 for never."""
    from barnabas.net import sasl_client

    if login.tokens is not None:  # may ask a server: not on the loop
        await asyncio.get_running_loop().run_in_executor(None, login.tokens.get)
    steps = sasl_client.log_in(login, connection.versions, connection.address)
    answer = None
    try:
        while True:
            request, version = steps.send(answer)
            answer = await connection.submit(request, version=version)
    except StopIteration as over:
        return float(over.value * SESSION_SHARE / 1000)


async def _ask_versions(connection: "ClientConnection", version: int) -> ApiVersionsResponse:
    response = await connection.submit(versions_request(), version=version)
    assert isinstance(response, ApiVersionsResponse)
    return response


async def _tls_failure(address: Address, error: OSError) -> BarnabasError:
    failure = tls_failure(address, error)
    if failure.retriable:  # a certain cause that nobody told
        cause = await _diagnosed(address, tls=True)
        return failure if cause.retriable else cause
    return failure


async def _diagnosed(address: Address, *, tls: bool) -> BarnabasError:
    try:
        return await asyncio.to_thread(diagnose, address, tls=tls)
    except RuntimeError:  # no thread can be started while the interpreter exits
        return diagnose(address, tls=tls)
