"""The `barnabas` command: finds the module of the subcommand and runs it.

Only the module that is called gets imported, so `--help` and errors come at once. A subcommand is
a module with `add_arguments(parser)` and `run(arguments) -> int`.

Exit codes: 0 done, 1 the operation failed, 2 wrong usage, 3 a check failed, 130 Ctrl-C.
"""

import argparse
import gc
import importlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from barnabas.model.errors import BarnabasError, ConfigError

FAILED = 1
USAGE = 2
INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class Command:
    """A subcommand: where it lives and what it does in one line."""

    module: str
    summary: str


COMMANDS: dict[str, Command] = {
    "up": Command("barnabas.cli.up", "run an embedded broker in the foreground"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line; returns the exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    name = arguments[0] if arguments else ""
    command = COMMANDS.get(name)
    if command is None:
        return _without_command(arguments)
    module = _load(command.module)
    parser = argparse.ArgumentParser(f"barnabas {name}", description=module.__doc__)
    module.add_arguments(parser)
    try:
        return int(module.run(parser.parse_args(arguments[1:])))
    except ConfigError as error:
        return _say(f"barnabas {name}: {error}", USAGE)
    except BarnabasError as error:
        return _say(f"barnabas {name}: {error}", FAILED)
    except KeyboardInterrupt:
        return INTERRUPTED


def _load(name: str) -> Any:
    """Import a subcommand. Nothing that imports make is garbage: looking for some takes time."""
    gc.disable()
    try:
        return importlib.import_module(name)
    finally:
        gc.enable()


def _without_command(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        "barnabas",
        usage="barnabas COMMAND [options]",
        description="Kafka's system in Python: broker, clients and tools.",
        epilog="\n".join(_summaries()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="store_true", help="print the version")
    parsed, unknown = parser.parse_known_args(arguments)
    if parsed.version:
        return _print_version()
    if unknown:
        parser.print_usage(sys.stderr)
        return _say(f"barnabas: unknown command {unknown[0]!r}", USAGE)
    parser.print_help(sys.stderr)
    return USAGE


def _summaries() -> list[str]:
    return ["commands:", *(f"  {name:<14} {item.summary}" for name, item in COMMANDS.items())]


def _print_version() -> int:
    from importlib.metadata import version

    sys.stdout.write(f"barnabas {version('barnabas')}\n")
    return 0


def _say(text: str, code: int) -> int:
    sys.stderr.write(f"{text}\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
