"""Run a ZooKeeper server in the foreground. Needs Java; the server's classes are part of PySpark.

Prints one line "listening on HOST:PORT" when the server is ready. Ctrl-C or SIGTERM stops it. The
verb `shell` is a client that shows and changes the nodes of a running ZooKeeper.
"""

import argparse
import asyncio
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from barnabas.cli.framework.options import data_home, locked_directory, port_number
from barnabas.cli.framework.output import DONE, FAILED, INTERRUPTED
from barnabas.cli.framework.verbs import HelpFormatter, VerbParser, examples, in_module
from barnabas.model.errors import ConfigError
from barnabas.zk.zookeeper_server import ServerConfig, ZooKeeperServer

EXAMPLE = """
barnabas zookeeper --port 2181 --data-dir ./zookeeper
barnabas zookeeper shell localhost:2181 ls /brokers/ids
"""
_SHELL_EXAMPLE = """
barnabas zookeeper shell localhost:2181
barnabas zookeeper shell localhost:2181 get /brokers/ids/1
"""
_CHECK_SECONDS = 0.5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--port",
        type=port_number,
        default=2181,
        help="0 selects a free port (default: %(default)s)",
    )
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--data-dir", type=Path, default=None)
    parser.add_argument(
        "--server-id", type=int, default=1, help="number of this server in an ensemble"
    )
    parser.add_argument(
        "--member",
        metavar="ID=HOST:PORT:PORT",
        action="append",
        default=[],
        help="a server of the ensemble with its quorum and election port, repeatable",
    )
    _add_shell(parser)


def _add_shell(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(dest="verb", metavar="shell", parser_class=VerbParser)
    summary = "show and change nodes: ls, get, stat, set, create, delete"
    shell = verbs.add_parser(
        "shell",
        help=summary,
        description=summary,
        epilog=examples(_SHELL_EXAMPLE),
        formatter_class=HelpFormatter,
    )
    shell.add_options, run_shell = in_module("servers.zookeeper_shell")
    shell.set_defaults(run_verb=run_shell)


def run(arguments: argparse.Namespace) -> int:
    if arguments.verb == "shell":
        return int(arguments.run_verb(arguments))
    return serve(
        ServerConfig(
            data_dir=arguments.data_dir or data_home() / "zookeeper",
            port=arguments.port,
            host=arguments.host,
            server_id=arguments.server_id,
            members=_members(arguments.member),
        )
    )


def serve(config: ServerConfig) -> int:
    """Runs a server until a signal and returns the exit code."""
    with locked_directory(config.data_dir):
        return asyncio.run(_serve(config))


async def _serve(config: ServerConfig) -> int:
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


async def _until_stopped(server: ZooKeeperServer, stopped: "asyncio.Future[int]") -> int:
    while not stopped.done():
        await asyncio.wait([stopped], timeout=_CHECK_SECONDS)
        if not server.running:
            sys.stderr.write("barnabas zookeeper: the server process has ended\n")
            return FAILED
    return INTERRUPTED if stopped.result() == signal.SIGINT else DONE


def _stop(stopped: "asyncio.Future[int]", number: int) -> None:
    if not stopped.done():
        stopped.set_result(number)
