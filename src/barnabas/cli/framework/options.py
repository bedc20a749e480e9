"""The options that nearly every command has, in one call."""

import argparse
import sys

from barnabas.cli.framework.connection import add_connection_options
from barnabas.cli.framework.render import add_format_option
from barnabas.model.errors import ConfigError

_LAST_PORT = 65535


def add_common_options(parser: argparse.ArgumentParser) -> None:
    """Connection and output format."""
    add_format_option(parser)
    add_connection_options(parser)


def port_number(text: str) -> int:
    """A port to listen on, as an argument's type; 0 takes a free one."""
    if not text.isdecimal() or int(text) > _LAST_PORT:
        raise argparse.ArgumentTypeError(f"{text!r} is no port: 0 to {_LAST_PORT}")
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
        "-q", "--quiet", "--no-progress", action="store_true", help="no progress bar"
    )


def add_config_option(parser: argparse.ArgumentParser, text: str) -> None:
    parser.add_argument(
        "-c", "--config", metavar="KEY=VALUE", action="append", default=[], help=text
    )


def add_confirmation_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-y", "--yes", action="store_true", help="do not ask")
    add_dry_run_option(parser)


def add_dry_run_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--dry-run", action="store_true", help="say what would happen, change nothing"
    )


def confirmed(arguments: argparse.Namespace, question: str) -> bool:
    """Whether to go on; without a terminal to ask on, `--yes` is needed."""
    if arguments.yes:
        return True
    if not sys.stdin.isatty():
        raise ConfigError(f"{question}: say --yes to do it without a terminal to ask on")
    sys.stderr.write(f"{question}? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
