"""Options that many commands share, and the confirmation before destructive operations."""

import argparse
import sys

from barnabas.cli.framework.connection import add_connection_options
from barnabas.cli.framework.output import add_format_option
from barnabas.model.errors import ConfigError

_LAST_PORT = 65535


def add_common_options(parser: argparse.ArgumentParser) -> None:
    """Adds the connection options and --format."""
    add_format_option(parser)
    add_connection_options(parser)


def port_number(text: str) -> int:
    """Argument type of a port to listen on; 0 selects a free port."""
    if not text.isdecimal() or int(text) > _LAST_PORT:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: must be 0 to {_LAST_PORT}")
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
        "kafka-configs --entity-type broker-loggers changes them while the broker runs",
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
