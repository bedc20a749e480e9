"""Run an embedded broker in the foreground: one process, no ZooKeeper, no JVM.

Prints one line "listening on HOST:PORT" when clients may connect. Ctrl-C or SIGTERM stops it
cleanly; the data stays in its directory.
"""

import argparse
import asyncio
import errno
import gc
import logging
import os
import signal
import sys
from pathlib import Path
from typing import Any

from barnabas.broker.app import Broker
from barnabas.broker.config import DEFAULT_PORT, BrokerConfig
from barnabas.model.errors import ConfigError, LocalError

EXAMPLE = "barnabas up --port 9092 --data-dir ./data -X num.partitions=3"
_DEFAULT_HOST = "localhost"
_INTERRUPTED = 130
_PORT_LIMIT = 65535


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--port", type=int, default=DEFAULT_PORT, help="0 takes a free one")
    parser.add_argument(
        "--host",
        default=_DEFAULT_HOST,
        help="address to listen on; 0.0.0.0 for all (default: %(default)s)",
    )
    parser.add_argument("--data-dir", type=Path, default=None, help=f"default: {_data_dir()}")
    parser.add_argument(
        "--brokers",
        type=int,
        default=1,
        metavar="N",
        help="more than one: a cluster on a ZooKeeper of its own (needs Java)",
    )
    parser.add_argument(
        "-X",
        dest="settings",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="a broker setting by Kafka's name, such as -X num.partitions=3",
    )
    parser.add_argument("--log-level", default="WARNING", choices=["DEBUG", "INFO", "WARNING"])


def run(arguments: argparse.Namespace) -> int:
    set_up_logging(arguments.log_level)
    settings = _settings(arguments)
    if arguments.brokers > 1:
        return _run_cluster(arguments, settings)
    return asyncio.run(serve(BrokerConfig.parse(settings)))


def _run_cluster(arguments: argparse.Namespace, settings: dict[str, object]) -> int:
    from barnabas.cli.servers.local_cluster import run_cluster

    BrokerConfig.parse(settings)  # say what is wrong before anything runs
    data_dir = Path(str(settings.pop("log.dirs"))) / "cluster"
    del settings["listeners"]
    return run_cluster(arguments.brokers, arguments.port, data_dir, settings)


def set_up_logging(level: str) -> None:
    """The broker's log goes to stderr."""
    logging.basicConfig(
        level=level,
        stream=sys.stderr,
        format="%(asctime)s %(levelname)s %(name)s %(message)s",
    )


def _settings(arguments: argparse.Namespace) -> dict[str, object]:
    if not 0 <= arguments.port <= _PORT_LIMIT:
        raise ConfigError(f"--port {arguments.port}: must be between 0 and {_PORT_LIMIT}")
    host = f"[{arguments.host}]" if ":" in arguments.host else arguments.host
    settings: dict[str, object] = {
        "listeners": f"PLAINTEXT://{host}:{arguments.port}",
        "log.dirs": str(arguments.data_dir or _data_dir()),
    }
    for text in arguments.settings:
        key, separator, value = text.partition("=")
        if not separator:
            raise ConfigError(f"-X {text!r}: must look like KEY=VALUE")
        settings[key.strip()] = value.strip()
    return settings


def _data_dir() -> Path:
    """Where data goes unless told otherwise: the user's data directory, as XDG has it."""
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "barnabas"


async def serve(config: BrokerConfig) -> int:
    """Run a broker until a signal; the exit code tells which."""
    stopped: asyncio.Future[signal.Signals] = asyncio.get_running_loop().create_future()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, _stop, stopped, number)
    broker = Broker(config)
    try:
        await broker.start()
    except OSError as error:
        raise _startup_error(config, error) from error
    sys.stdout.write(f"listening on {_shown(broker.host)}:{broker.port}\n")
    sys.stdout.flush()
    gc.freeze()  # what start-up made stays: collections need not look at it again
    failed = asyncio.ensure_future(broker.failed.wait())
    ends: list[asyncio.Future[Any]] = [stopped, failed]
    await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
    failed.cancel()
    await broker.stop()
    if not stopped.done():
        raise LocalError("every log directory has failed")
    return _INTERRUPTED if stopped.result() is signal.SIGINT else 0


def _stop(stopped: "asyncio.Future[signal.Signals]", number: signal.Signals) -> None:
    if not stopped.done():
        stopped.set_result(number)


def _shown(host: str) -> str:
    if not host:
        return "localhost"
    return f"[{host}]" if ":" in host else host


def _startup_error(config: BrokerConfig, error: OSError) -> LocalError:
    wanted = config.listeners[0]
    if error.errno == errno.EADDRINUSE:
        text = (
            f"port {wanted.port} is taken; try --port {wanted.port + 1}, or --port 0 for a free one"
        )
        return LocalError(text)
    if error.errno == errno.EACCES and wanted.port < 1024:
        return LocalError(f"port {wanted.port} needs privileges; try --port {DEFAULT_PORT}")
    return LocalError(f"cannot start: {error}")
