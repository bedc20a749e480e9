"""Run a ZooKeeper server in the foreground; its classes come with PySpark, Java is needed.

Prints one line "listening on HOST:PORT" when it serves. Ctrl-C or SIGTERM stops it.
"""

import argparse
import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from barnabas.cli.framework.exit_codes import DONE, FAILED, INTERRUPTED
from barnabas.cli.framework.options import port_number
from barnabas.cli.servers.data_dir import held
from barnabas.model.errors import ConfigError

if TYPE_CHECKING:
    from barnabas.zk.zookeeper_server import ZooKeeperServer

EXAMPLE = "barnabas zookeeper --port 2181 --data-dir ./zookeeper"
_CHECK_SECONDS = 0.5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--port", type=port_number, default=2181, help="0 takes a free one")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--data-dir", type=Path, default=None)
    parser.add_argument("--server-id", type=int, default=1, help="of an ensemble")
    parser.add_argument(
        "--member",
        metavar="ID=HOST:PORT:PORT",
        action="append",
        default=[],
        help="a server of the ensemble with its quorum and election port, repeatable",
    )


def run(arguments: argparse.Namespace) -> int:
    members = _members(arguments.member)
    with held(arguments.data_dir or _data_dir()) as data_dir:
        return asyncio.run(_serve(arguments, data_dir, members))


async def _serve(arguments: argparse.Namespace, data_dir: Path, members: dict[int, str]) -> int:
    from barnabas.zk.zookeeper_server import ServerConfig, ZooKeeperServer

    config = ServerConfig(
        data_dir=data_dir,
        port=arguments.port,
        host=arguments.host,
        server_id=arguments.server_id,
        members=members,
    )
    server = ZooKeeperServer(config)
    stopped: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, _stop, stopped, number)
    try:
        await server.start()
        sys.stdout.write(f"listening on {server.connect_string}\n")
        sys.stdout.flush()
        return await _until_stopped(server, stopped)
    finally:
        await server.stop()


def _members(items: Sequence[str]) -> dict[int, str]:
    found = {}
    for item in items:
        number, _, address = item.partition("=")
        if not number.isdecimal() or address.count(":") < 2:
            raise ConfigError(f"--member {item!r}: must look like 1=host:2888:3888")
        found[int(number)] = address
    return found


async def _until_stopped(server: "ZooKeeperServer", stopped: "asyncio.Future[int]") -> int:
    while not stopped.done():
        await asyncio.wait([stopped], timeout=_CHECK_SECONDS)
        if not server.running:
            sys.stderr.write("barnabas zookeeper: the server has ended\n")
            return FAILED
    return INTERRUPTED if stopped.result() == signal.SIGINT else DONE


def _stop(stopped: "asyncio.Future[int]", number: int) -> None:
    if not stopped.done():
        stopped.set_result(number)


def _data_dir() -> Path:
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "barnabas" / "zookeeper"
