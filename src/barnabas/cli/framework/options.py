"""Options that many commands share, and the confirmation before destructive operations."""

import argparse
import sys

from barnabas.cli.framework.connection import add_connection_options
from barnabas.cli.framework.render import add_format_option
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
