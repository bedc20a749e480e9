"""Show and change the nodes of ZooKeeper, with the commands of ZooKeeper's own client.

Runs the command of the command line; without one reads commands from standard input, one per line.
"""

import argparse
import asyncio
import shlex
import sys
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from barnabas import zk
from barnabas.cli.framework.connection import read_properties
from barnabas.cli.framework.output import DONE, FAILED, printable
from barnabas.cli.framework.zookeeper_brokers import security_of
from barnabas.model.errors import BarnabasError, ConfigError
from barnabas.zk.tree import (
    ANY_VERSION,
    BadVersionError,
    NoChildrenForEphemeralsError,
    NodeError,
    NodeExistsError,
    NoNodeError,
    NotEmptyError,
)

if TYPE_CHECKING:
    from barnabas.zk.tree import MetadataTree, Stat

EXAMPLE = """
barnabas zookeeper shell localhost:2181
barnabas zookeeper shell localhost:2181 get /brokers/ids/1
"""
DEFAULT_SERVER = "localhost:2181"
CONNECT_SECONDS = 10.0
HELP = """\
ls [-s] PATH                      names of the children; -s adds the node's state
get [-s] PATH                     data of a node
stat PATH                         state of a node
set [-v VERSION] PATH DATA        change the data of a node
create [-e] [-s] PATH [DATA]      make a node: -e ephemeral, -s sequential
delete [-v VERSION] PATH          remove a node without children
deleteall PATH                    remove a node and everything below it
quit
"""
_ERROR_TEXTS: dict[type[NodeError], str] = {
    NoNodeError: "Node does not exist: {}",
    NodeExistsError: "Node already exists: {}",
    NotEmptyError: "Node not empty: {}",
    BadVersionError: "version No is not valid : {}",
    NoChildrenForEphemeralsError: "Ephemerals cannot have children: {}",
}


class ShellExit(Exception):
    """The user entered `quit`."""


class Shell:
    """Runs commands in one session; each returns the lines to print."""

    def __init__(self, tree: "MetadataTree") -> None:
        self._tree = tree
        self._commands: dict[str, Callable[[argparse.Namespace], Awaitable[Iterable[str]]]] = {
            "ls": self._ls,
            "get": self._get,
            "stat": self._stat,
            "set": self._set,
            "create": self._create,
            "delete": self._delete,
            "deleteall": self._delete_all,
            "rmr": self._delete_all,
        }

    async def run(self, words: Sequence[str]) -> list[str]:
        """Runs one command.

        Raises:
            ConfigError: The command or its arguments are wrong.
            BarnabasError: ZooKeeper rejected the command.
            ShellExit: The command was `quit`.
        """
        name, *rest = words
        if name in ("quit", "exit", "close"):
            raise ShellExit
        if name in ("help", "?", "h"):
            return HELP.splitlines()
        if name == "ls2":
            name, rest = "ls", ["-s", *rest]
        command = self._commands.get(name)
        if command is None:
            raise ConfigError(f"command not found: {name}; 'help' lists the commands")
        try:
            return list(await command(_arguments(name, rest)))
        except NodeError as error:
            text = _ERROR_TEXTS.get(type(error))
            raise BarnabasError(text.format(error.path) if text else str(error)) from error

    async def _ls(self, given: argparse.Namespace) -> list[str]:
        names = await self._tree.children(given.path)
        lines = [f"[{', '.join(names)}]"]
        return lines + await self._stat(given) if given.s else lines

    async def _get(self, given: argparse.Namespace) -> list[str]:
        data, stat = await self._tree.get(given.path)
        lines = [data.decode(errors="backslashreplace")]
        return lines + stat_lines(stat, len(data)) if given.s else lines

    async def _stat(self, given: argparse.Namespace) -> list[str]:
        data, stat = await self._tree.get(given.path)
        return stat_lines(stat, len(data))

    async def _set(self, given: argparse.Namespace) -> list[str]:
        await self._tree.set(given.path, given.data.encode(), _version(given))
        return []

    async def _create(self, given: argparse.Namespace) -> list[str]:
        data = (given.data or "").encode()
        made = await self._tree.create(given.path, data, ephemeral=given.e, sequential=given.s)
        return [f"Created {made}"]

    async def _delete(self, given: argparse.Namespace) -> list[str]:
        await self._tree.delete(given.path, _version(given))
        return []

    async def _delete_all(self, given: argparse.Namespace) -> list[str]:
        for name in await self._tree.children(given.path):
            below = f"{given.path.rstrip('/')}/{name}"
            await self._delete_all(argparse.Namespace(path=below))
        await self._tree.delete(given.path)
        return []


def stat_lines(stat: "Stat", length: int) -> list[str]:
    """Returns the state of a node, formatted as in ZooKeeper's own client."""
    return [
        f"cZxid = {stat.czxid:#x}",
        f"ctime = {_time(stat.ctime_ms)}",
        f"mZxid = {stat.mzxid:#x}",
        f"mtime = {_time(stat.mtime_ms)}",
        f"pZxid = {stat.pzxid:#x}",
        f"cversion = {stat.cversion}",
        f"dataVersion = {stat.version}",
        f"aclVersion = {stat.acl_version}",
        f"ephemeralOwner = {stat.ephemeral_owner:#x}",
        f"dataLength = {length}",
        f"numChildren = {stat.num_children}",
    ]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("server", nargs="?", default=DEFAULT_SERVER, metavar="HOST:PORT[/CHROOT]")
    parser.add_argument(
        "-zk-tls-config-file",
        dest="zookeeper_config",
        metavar="FILE",
        help="a properties file with zookeeper.username, zookeeper.password, zookeeper.ssl.…",
    )
    parser.add_argument("command", nargs=argparse.REMAINDER, help="such as: ls /brokers/ids")


def run(arguments: argparse.Namespace) -> int:
    """Connects and runs the command of the command line, or those of standard input."""
    with asyncio.Runner() as runner:
        tree = runner.run(_connect(arguments.server, arguments.zookeeper_config))
        try:
            shell = Shell(tree)
            if arguments.command:
                _write(runner.run(shell.run(arguments.command)))
                return DONE
            return _read_commands(runner, shell, arguments.server)
        except ShellExit:
            return DONE
        finally:
            runner.run(tree.close())


def _read_commands(runner: asyncio.Runner, shell: Shell, server: str) -> int:
    """Runs each line of standard input; without a terminal an error makes the exit code 1."""
    interactive = sys.stdin.isatty()
    if interactive:
        import readline  # noqa: F401 - optional module of Python; gives input() history and editing

        sys.stdout.write(f"Connected to {server}; 'help' lists the commands\n")
    code, number = DONE, 0
    while True:
        try:
            line = input(f"[zk: {server}(CONNECTED) {number}] " if interactive else "")
        except EOFError:
            return code
        except KeyboardInterrupt:
            sys.stdout.write("\n")
            continue
        number += 1
        try:
            words = shlex.split(line)
            if words:
                _write(runner.run(shell.run(words)))
        except (BarnabasError, ValueError) as error:
            sys.stderr.write(f"{printable(str(error))}\n")
            code = DONE if interactive else FAILED


async def _connect(server: str, config_file: str | None) -> "MetadataTree":
    settings = {} if config_file is None else read_properties(Path(config_file))
    return await zk.connect(
        server, connect_timeout_s=CONNECT_SECONDS, security=security_of(settings)
    )


class _CommandParser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ConfigError(f"{self.prog}: {message}")


def _arguments(name: str, words: Sequence[str]) -> argparse.Namespace:
    parser = _CommandParser(name, add_help=False)
    if name in ("ls", "get", "create"):
        parser.add_argument("-s", action="store_true")
    if name == "create":
        parser.add_argument("-e", action="store_true")
    if name in ("set", "delete"):
        parser.add_argument("-v", type=int)
    parser.add_argument("path")
    if name in ("set", "create"):
        parser.add_argument("data", nargs=None if name == "set" else "?")
    if name in ("set", "delete"):
        parser.add_argument("version", type=int, nargs="?")
    given = parser.parse_args(list(words))
    if not given.path.startswith("/"):
        raise ConfigError(f"{name}: {given.path!r}: a path must start with /")
    if len(given.path) > 1 and given.path.endswith("/"):
        raise ConfigError(f"{name}: {given.path!r}: a path must not end with /")
    return given


def _version(given: argparse.Namespace) -> int:
    found = given.version if given.v is None else given.v
    return ANY_VERSION if found is None else int(found)


def _time(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%a %b %d %H:%M:%S UTC %Y")


def _write(lines: Iterable[str]) -> None:
    sys.stdout.writelines(f"{printable(line)}\n" for line in lines)
    sys.stdout.flush()
