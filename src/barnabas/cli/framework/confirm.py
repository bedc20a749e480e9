"""Asking before something is destroyed: `--yes` skips it, `--dry-run` only tells."""

import argparse
import sys

from barnabas.model.errors import ConfigError


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
