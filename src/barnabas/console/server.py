"""Runs a console until a signal: binds the port, serves the application, closes the clients."""

import asyncio
import ctypes
import errno
import gc
import logging
import signal
import socket
import sys

import uvicorn
from starlette.middleware.gzip import GZipMiddleware
from starlette.types import ASGIApp

from barnabas.console.app import create_api
from barnabas.console.composition import Console
from barnabas.console.pages.site import add_pages
from barnabas.console.settings import ConsoleSettings, is_loopback
from barnabas.model.errors import LocalError

_INTERRUPTED = 130
_SHUTDOWN_S = 2
_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8
_LARGE_BLOCK = 1024 * 1024


class ConsoleServer(uvicorn.Server):
    """The HTTP server of the console; sets `ready` when it accepts connections."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()


def run_console(settings: ConsoleSettings) -> int:
    """Serves a console in the foreground and returns the exit code."""
    listening = _bind(settings)
    _return_freed_memory()
    try:
        return asyncio.run(serve(settings, listening))
    finally:
        listening.close()


def _return_freed_memory() -> None:
    """Lets GNU's malloc give large blocks back to the system, and use few arenas.

    Otherwise one record of 50 MB makes the process larger for good.
    """
    setting = getattr(ctypes.CDLL(None), "mallopt", None)
    if setting is not None:
        setting(_M_MMAP_THRESHOLD, _LARGE_BLOCK)
        setting(_M_ARENA_MAX, 2)


async def serve(settings: ConsoleSettings, listening: socket.socket) -> int:
    """Serves on a bound socket until SIGINT or SIGTERM and returns the exit code."""
    console = Console(settings)
    app = create_api(console)
    add_pages(app, console)
    served: ASGIApp = app
    if not is_loopback(settings.host):
        served = GZipMiddleware(app, minimum_size=1000)
    server = ConsoleServer(
        uvicorn.Config(
            served,
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=_SHUTDOWN_S,
            lifespan="on",
        )
    )
    received: list[signal.Signals] = []

    def stop(number: signal.Signals) -> None:
        received.append(number)
        server.should_exit = True
        # Ctrl-C on `barnabas up --console` is SIGINT for both processes; `up` then sends SIGTERM.
        server.force_exit = received.count(number) > 1
        if server.force_exit:
            logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # hides cancelled tasks

    loop = asyncio.get_running_loop()
    serving = asyncio.ensure_future(server._serve([listening]))  # noqa: SLF001 - without its signals
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop, number)
    ready = asyncio.ensure_future(server.ready.wait())
    await asyncio.wait([ready, serving], return_when=asyncio.FIRST_COMPLETED)
    ready.cancel()
    if server.started:
        host, port = listening.getsockname()[:2]
        shown = f"[{host}]" if ":" in host else host
        sys.stdout.write(f"console at http://{shown}:{port}\n")
        sys.stdout.flush()
        gc.freeze()  # objects of the start-up live until the end
    await serving
    if not server.force_exit:
        # The end of `serving` cancels the tasks of the pages. If the clients were closed before it,
        # open pages would fail and request their data again.
        await console.close()
    # Two signals that arrive together may be handled in either order.
    return _INTERRUPTED if signal.SIGINT in received else 0


def _bind(settings: ConsoleSettings) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM
        )[0]
    except socket.gaierror as error:
        raise LocalError(f"--host {settings.host}: {error.strerror}") from error
    listening = socket.socket(family, kind, protocol)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(address)
    except OSError as error:
        listening.close()
        raise LocalError(bind_error(error, settings)) from error
    return listening


def bind_error(error: OSError, settings: ConsoleSettings) -> str:
    """Returns the reason why the console cannot listen, for the user."""
    port = settings.port
    if error.errno == errno.EADDRINUSE:
        return f"port {port} is in use; try --port {port + 1}, or --port 0 for a free port"
    if error.errno == errno.EACCES:
        return f"port {port} needs privileges; try --port 8080"
    return f"cannot listen on {settings.host}:{port}: {error.strerror}"
