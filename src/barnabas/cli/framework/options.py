"""Options that many commands share, the files that they name, and the confirmation before
destructive operations.

A file name `-` is the standard stream; files whose names end in .gz are compressed.
"""

import argparse
import fcntl
import gzip
import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import IO, Literal

from barnabas.cli.framework.connection import add_connection_options
from barnabas.cli.framework.output import add_format_option
from barnabas.model.errors import ConfigError, LocalError

_LAST_PORT = 65535
STDIO = "-"


def add_common_options(parser: argparse.ArgumentParser) -> None:
    """Adds the connection options and --format."""
    add_format_option(parser)
    add_connection_options(parser)


def port_number(text: str) -> int:
    """Argument type of a port to listen on; 0 selects a free port."""
    if not text.isdecimal() or int(text) > _LAST_PORT:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: must be 0 to {_LAST_PORT}")
    return int(text)


def count_of_records(text: str) -> int:
    """Argument type of a number of records."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of records: must be 0 or more")
    return int(text)


LOG_AREAS = (
    "audit",
    "authorizer",
    "broker",
    "controller",
    "groups",
    "net",
    "replication",
    "request",
    "storage",
    "transactions",
    "zk",
)
"""Parts of the broker whose log level can be set; `request` at DEBUG is the request log."""
DEFAULT_LEVEL = "warning"
_LEVELS = {"DEBUG": "DEBUG", "INFO": "INFO", "WARNING": "WARNING", "WARN": "WARNING"}
_LEVELS |= {"ERROR": "ERROR"}


def log_levels(text: str) -> dict[str, str]:
    """Argument type of log levels by area; the empty area is all others.

    >>> log_levels("info,controller=debug")
    {'': 'INFO', 'controller': 'DEBUG'}
    """
    found = {"": "WARNING"}
    for item in text.split(","):
        area, separator, level = item.strip().rpartition("=")
        if separator and area not in LOG_AREAS:
            known = ", ".join(LOG_AREAS)
            raise argparse.ArgumentTypeError(f"{area!r} is not an area: use one of {known}")
        if level.upper() not in _LEVELS:
            known = ", ".join(name.lower() for name in _LEVELS)
            raise argparse.ArgumentTypeError(f"{level!r} is not a log level: use one of {known}")
        found[area] = _LEVELS[level.upper()]
    return found


def add_log_options(parser: argparse.ArgumentParser) -> None:
    """Adds --log-level and --log-format of a broker."""
    parser.add_argument(
        "--log-level",
        type=log_levels,
        default=DEFAULT_LEVEL,
        metavar="LEVEL[,AREA=LEVEL...]",
        help="debug, info, warning or error, and other levels for single areas, such as "
        f"info,controller=debug; areas: {', '.join(LOG_AREAS)} (default: %(default)s); "
        "barnabas kafka-configs --entity-type broker-loggers changes them while the broker runs",
    )
    parser.add_argument(
        "--log-format",
        default="text",
        choices=["text", "json"],
        help="json: one JSON object per line (default: %(default)s)",
    )


def add_isolation_option(parser: argparse.ArgumentParser, default: str) -> None:
    parser.add_argument(
        "--isolation-level",
        default=default,
        choices=("read_uncommitted", "read_committed"),
        help="(default: %(default)s)",
    )


def add_progress_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-q", "--quiet", "--no-progress", action="store_true", help="show no progress bar"
    )


def add_config_option(parser: argparse.ArgumentParser, text: str) -> None:
    parser.add_argument(
        "-c", "--config", metavar="KEY=VALUE", action="append", default=[], help=text
    )


def add_confirmation_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-y", "--yes", action="store_true", help="do not ask for confirmation")
    add_dry_run_option(parser)


def add_dry_run_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--dry-run", action="store_true", help="show the changes without making them"
    )


def confirmed(arguments: argparse.Namespace, question: str) -> bool:
    """Asks the user on the terminal and returns whether to continue.

    Raises:
        ConfigError: There is neither a terminal nor `--yes`.
    """
    if arguments.yes:
        return True
    if not sys.stdin.isatty():
        raise ConfigError(f"{question}: --yes is required when there is no terminal")
    sys.stderr.write(f"{question}? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def open_output(name: str) -> AbstractContextManager[IO[str]]:
    """Opens a file for writing; `-` is stdout."""
    return nullcontext(sys.stdout) if name == STDIO else _open(name, "wt", "write")


def open_input(name: str) -> AbstractContextManager[IO[str]]:
    """Opens a file for reading; `-` is stdin."""
    return nullcontext(sys.stdin) if name == STDIO else _open(name, "rt", "read")


def read_input(name: str) -> str:
    """Returns the whole text of a file or of stdin."""
    with open_input(name) as text:
        return text.read()


@contextmanager
def _open(name: str, mode: Literal["rt", "wt"], purpose: str) -> Iterator[IO[str]]:
    try:
        file = _plain_or_zipped(name, mode)
    except OSError as error:
        raise LocalError(f"cannot {purpose} {name}: {error.strerror}") from error
    with file:
        try:
            yield file
        except UnicodeDecodeError:
            raise LocalError(f"cannot {purpose} {name}: it is not UTF-8 text") from None


def _plain_or_zipped(name: str, mode: Literal["rt", "wt"]) -> IO[str]:
    if name.endswith(".gz"):
        return gzip.open(name, mode, encoding="utf-8")
    return Path(name).open(mode, encoding="utf-8")


def data_home() -> Path:
    """Returns the default directory of server data, below the user's data directory (XDG)."""
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "barnabas"


@contextmanager
def locked_directory(directory: Path) -> Iterator[Path]:
    """Creates the directory and locks it until the block ends.

    Brokers lock their own directories. ZooKeeper does not, and two servers on one directory
    destroy the data.

    Raises:
        LocalError: Another process has locked the directory.
    """
    directory.mkdir(0o700, parents=True, exist_ok=True)
    with (directory / ".lock").open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise LocalError(f"{directory} is in use by another process") from None
        yield directory
