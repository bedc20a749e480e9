"""Runs a broker until a signal.

The server commands import this module when they run, because importing the broker is slow.
"""

import asyncio
import errno
import gc
import logging
import signal
import sys
from collections.abc import Mapping
from typing import Any

from barnabas.broker.app import Broker
from barnabas.broker.config import DEFAULT_PORT, BrokerConfig
from barnabas.model.errors import LocalError

_INTERRUPTED = 130


def run_broker(settings: Mapping[str, object], log_level: str) -> int:
    """Runs a broker with these settings and returns the exit code."""
    set_up_logging(log_level)
    return asyncio.run(serve(BrokerConfig.parse(settings)))


def check_settings(settings: Mapping[str, object]) -> None:
    """Raises ConfigError for invalid settings."""
    BrokerConfig.parse(settings)


def set_up_logging(level: str) -> None:
    """Sends the broker's log to stderr."""
    logging.basicConfig(
        level=level,
        stream=sys.stderr,
        format="%(asctime)s %(levelname)s %(name)s %(message)s",
    )


async def serve(config: BrokerConfig) -> int:
    """Runs a broker until SIGINT or SIGTERM and returns the exit code."""
    stopped: asyncio.Future[signal.Signals] = asyncio.get_running_loop().create_future()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, _stop, stopped, number)
    broker = Broker(config)
    starting = asyncio.ensure_future(broker.start())
    either: list[asyncio.Future[Any]] = [starting, stopped]
    await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
    if not starting.done():  # the start may wait for ZooKeeper without limit
        starting.cancel()
        await asyncio.wait([starting])
        return _exit_code(stopped.result())
    try:
        await starting
    except OSError as error:
        raise LocalError(startup_error(error)) from error
    sys.stdout.write(f"listening on {_shown(broker.host)}:{broker.port}\n")
    sys.stdout.flush()
    gc.freeze()  # objects of the start-up live until the end; exclude them from garbage collections
    failed = asyncio.ensure_future(broker.failed.wait())
    ends: list[asyncio.Future[Any]] = [stopped, failed]
    await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
    failed.cancel()
    await broker.stop()
    if not stopped.done():
        raise LocalError("every log directory has failed")
    return _exit_code(stopped.result())


def _exit_code(number: signal.Signals) -> int:
    return _INTERRUPTED if number is signal.SIGINT else 0


def _stop(stopped: "asyncio.Future[signal.Signals]", number: signal.Signals) -> None:
    if not stopped.done():
        stopped.set_result(number)


def _shown(host: str) -> str:
    if not host:
        return "localhost"
    return f"[{host}]" if ":" in host else host


def startup_error(error: OSError) -> str:
    """Returns the reason why a broker cannot start, for the user.

    >>> startup_error(OSError(errno.EADDRINUSE, "Address already in use", "127.0.0.1:9092"))
    'port 9092 is in use; try port 9093, or port 0 for a free port'
    """
    where = str(error.filename or "")
    port = where.rpartition(":")[2]
    if error.errno == errno.EADDRINUSE and port.isdecimal():
        return f"port {port} is in use; try port {int(port) + 1}, or port 0 for a free port"
    if error.errno == errno.EACCES and port.isdecimal():
        return f"port {port} needs privileges; try port {DEFAULT_PORT}"
    return f"cannot start: {where}: {error.strerror}" if where else f"cannot start: {error}"
