"""Runs a broker until a signal.

The server commands import this module when they run, because importing the broker is slow.
"""

import asyncio
import errno
import gc
import json
import logging
import resource
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from barnabas.broker.app import Broker
from barnabas.broker.config import DEFAULT_PORT, BrokerConfig
from barnabas.model.errors import LocalError
from barnabas.net.event_loop import new_event_loop

_INTERRUPTED = 130
_SWITCH_SECONDS = 0.0005
"""Time after which a thread that decodes a large request lets the loop run. With Python's default
the loop would wait 5 ms after each of its system calls."""
_EVERY_ADDRESS = ("", "0.0.0.0", "::")
_COLLECTION_THRESHOLDS = (1_000, 5, 850)
"""New objects before a collection of the first generation; collections of one generation before one
of the next. The first two generations have about 7,000 objects at most, which take 1 ms to visit:
the objects of new partitions survive both. All objects are visited after 5 million new ones."""


def run_broker(
    settings: Mapping[str, object],
    levels: Mapping[str, str],
    log_format: str = "text",
    started: Callable[[str], None] | None = None,
) -> int:
    """Runs a broker with these settings and returns the exit code.

    `started` is called with the address when clients can connect.
    """
    set_up_logging(levels, log_format)
    raise_descriptor_limit()
    sys.setswitchinterval(_SWITCH_SECONDS)
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        return runner.run(serve(BrokerConfig.parse(settings), started))


def raise_descriptor_limit() -> None:
    """Raises the soft limit of open files to the hard limit.

    Many systems have a soft limit of 1024, which is less than the connections and log files of an
    ordinary broker. Java does the same at its start.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def check_settings(settings: Mapping[str, object]) -> None:
    """Raises ConfigError for invalid settings."""
    BrokerConfig.parse(settings)


def set_up_logging(levels: Mapping[str, str], log_format: str = "text") -> None:
    """Sends the broker's log to stderr, as text or as one JSON object per line.

    Args:
        levels: Log levels by area, such as `controller`; the empty area is all others.
        log_format: `text` or `json`.
    """
    handler = logging.StreamHandler(sys.stderr)
    if log_format == "json":
        handler.setFormatter(JsonFormatter())
    else:
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
    logging.basicConfig(level=levels[""], handlers=[handler])
    for area, level in levels.items():
        if area:
            logging.getLogger(f"barnabas.{area}").setLevel(level)


class JsonFormatter(logging.Formatter):
    """Formats a log record as one JSON object with time, level, logger, message and exception."""

    def format(self, record: logging.LogRecord) -> str:
        moment = datetime.fromtimestamp(record.created, UTC)
        line = {
            "time": moment.isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


async def serve(config: BrokerConfig, started: Callable[[str], None] | None = None) -> int:
    """Runs a broker until SIGINT, SIGTERM or SIGHUP and returns the exit code."""
    stopped: asyncio.Future[signal.Signals] = asyncio.get_running_loop().create_future()
    for number in _stop_signals():
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
    if broker.http_url is not None:
        sys.stdout.write(f"metrics at {broker.http_url}/metrics\n")
    sys.stdout.flush()
    if started is not None:
        host = "localhost" if broker.host in _EVERY_ADDRESS else _shown(broker.host)
        started(f"{host}:{broker.port}")
    keep_collections_short()
    failed = asyncio.ensure_future(broker.failed.wait())
    ends: list[asyncio.Future[Any]] = [stopped, failed]
    await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
    failed.cancel()
    await broker.stop()
    if not stopped.done():
        raise LocalError("every log directory has failed")
    return _exit_code(stopped.result())


def keep_collections_short() -> None:
    """Makes full collections rare, and collections of new objects short.

    A full collection visits the objects of all partitions. A Metadata response of 5,000 partitions
    held the loop for 120 ms, 94 ms of them in a full collection. Requests leave no reference cycles
    behind, so there is little to collect. A collection of new objects visits those of a large
    request while it is decoded, and no thread can run meanwhile.
    """
    gc.freeze()  # objects of the start-up exist until the end
    gc.set_threshold(*_COLLECTION_THRESHOLDS)


def _stop_signals() -> list[signal.Signals]:
    """Returns the signals that stop a broker.

    SIGHUP is sent when the terminal is closed; under `nohup` it is ignored and must stay ignored.
    """
    ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    return [signal.SIGINT, signal.SIGTERM, *([] if ignored else [signal.SIGHUP])]


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
