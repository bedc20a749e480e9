"""The `barnabas` command: finds the module of the subcommand and runs it.

Only the module of the called subcommand is imported, so `--help` and usage errors appear quickly.
A subcommand is a module with `add_arguments(parser)`, `run(arguments) -> int` and an `EXAMPLE` for
its help. A tool of Apache Kafka that prints a fixed text before its errors has an `ERROR_PREFIX`.

Exit codes: 0 success, 1 the operation failed, 2 wrong usage, 3 a check failed, 130 Ctrl-C. Tools
with the flags of Apache Kafka's scripts exit with 1 after wrong usage, as Apache's do.
"""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from barnabas.cli.commands import COMMANDS, Command, find
from barnabas.cli.framework.output import DONE, FAILED, INTERRUPTED, USAGE, printable
from barnabas.cli.framework.verbs import CommandParser, HelpFormatter, closest, examples, load
from barnabas.model.errors import BarnabasError, ConfigError
from barnabas.model.lazy_exports import missing_package
from barnabas.model.version import VERSION

_LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command line and returns the exit code."""
    _open_closed_streams()
    arguments = list(sys.argv[1:] if argv is None else argv)
    name = arguments[0] if arguments else ""
    command = find(name)
    if command is None:
        return _without_command(arguments)
    return guarded(
        f"barnabas {name}",
        lambda: _run(command, name, arguments[1:]),
        usage=FAILED if command.apache else USAGE,
    )


def _open_closed_streams() -> None:
    """Opens /dev/null for each standard stream that the caller closed (`<&-`, `>&-`).

    Python sets such a stream to None, and the next socket or log file would get its descriptor.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            setattr(sys, name, open(number, mode, closefd=False))  # noqa: SIM115


def guarded(name: str, work: Callable[[], int], *, usage: int = USAGE) -> int:
    """Calls `work`; turns every expected failure into one line on stderr and an exit code.

    `usage` is the exit code after a wrong argument or setting.
    """
    try:
        return work()
    except ConfigError as error:
        return _report_error(f"{name}: ", error, usage)
    except BarnabasError as error:
        return _report_error(f"{name}: ", error, FAILED)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output closed the pipe (`| head`). With /dev/null as standard output the
        # interpreter reports no second error when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except ModuleNotFoundError as error:
        missing = missing_package(error)
        if missing is None:
            raise
        return _report_error(f"{name}: ", missing, FAILED)
    except OSError as error:
        # A file or an address from the command line is wrong, or the disk is full.
        where = f"{error.filename}: " if error.filename else ""
        return _report_error(f"{name}: ", f"{where}{error.strerror or error}", FAILED)


def _run(command: Command, name: str, arguments: list[str]) -> int:
    module = load(command.module)
    parser = make_parser(module, f"barnabas {name}")
    if command.apache:
        arguments = long_flags(parser, arguments)
    _set_up_logging()
    if command.apache and not arguments:
        parser.print_help(sys.stderr)  # as Apache's tools do
        return FAILED
    parsed = parser.parse_args(arguments)
    prefix = getattr(module, "ERROR_PREFIX", None)
    try:
        return int(module.run(parsed))
    except BarnabasError as error:
        if prefix is None or isinstance(error, ConfigError):
            raise
        return _report_error(prefix, error, FAILED)


def long_flags(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> list[str]:
    """Returns the arguments with `-topic` replaced by `--topic` where only the long name exists."""
    known = set(parser._option_string_actions)  # noqa: SLF001 - argparse has no public list of options
    found = []
    for argument in arguments:
        flag, equals, value = argument.partition("=")
        single = flag.startswith("-") and not flag.startswith("--") and flag not in known
        wanted = single and any(name.startswith(f"-{flag}") for name in known)
        found.append(f"-{flag}{equals}{value}" if wanted and len(flag) > 2 else argument)
    return found


class ApacheParser(CommandParser):
    """A parser with the exit code of Apache Kafka's tools for wrong usage.

    An unknown option is reported first: `--lst` instead of `--list` is not a missing option.
    """

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        self._given = list(args or ())
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        unknown = [item for item in self._given if self._is_unknown(item)]
        if unknown and (message.endswith("required") or message.startswith("unrecognized")):
            message = f"{unknown[0]} is not a recognized option{self.suggestion(unknown[0])}"
        self.exit(FAILED, f"{self.prog}: error: {message}\n")

    def _is_unknown(self, argument: str) -> bool:
        flag = argument.partition("=")[0]
        known = self._option_string_actions
        return flag.startswith("--") and not any(name.startswith(flag) for name in known)


def make_parser(module: Any, name: str) -> argparse.ArgumentParser:
    """Returns the parser of a command; the docstring of its module is the description."""
    example = getattr(module, "EXAMPLE", "")
    apache = module.__name__.startswith("barnabas.cli.apache")
    parser = (ApacheParser if apache else CommandParser)(
        name,
        description=module.__doc__,
        epilog=examples(example) if example else None,
        formatter_class=HelpFormatter,
        allow_abbrev=apache,
    )
    module.add_arguments(parser)
    return parser


def _set_up_logging() -> None:
    level = os.environ.get("BARNABAS_LOG_LEVEL")
    if level:
        import logging  # start-up time

        if level.upper() not in _LOG_LEVELS:
            raise ConfigError(f"BARNABAS_LOG_LEVEL={level!r}: must be {' or '.join(_LOG_LEVELS)}")
        logging.basicConfig(level=level.upper(), stream=sys.stderr)


def _without_command(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        "barnabas",
        usage="barnabas COMMAND [options]",
        description="A Kafka-compatible broker, clients and tools in Python.",
        epilog="\n".join(_summaries()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="store_true", help="print the version")
    parsed, unknown = parser.parse_known_args(arguments)
    if parsed.version:
        return _print_version()
    if unknown:
        return _unknown_command(parser, unknown[0])
    parser.print_help(sys.stderr)
    return USAGE


def _unknown_command(parser: argparse.ArgumentParser, name: str) -> int:
    parser.print_usage(sys.stderr)
    found = closest(name, COMMANDS)
    hint = "" if found is None else f"; did you mean {found!r}?"
    sys.stderr.write(f"barnabas: unknown command {name!r}{hint}\n")
    return USAGE


def _summaries() -> list[str]:
    own = {name: item for name, item in COMMANDS.items() if not item.apache}
    apache = {name: item for name, item in COMMANDS.items() if item.apache}
    return [
        "commands:",
        *(f"  {name:<26} {item.summary}" for name, item in own.items()),
        "",
        "tools with the flags of Apache Kafka's scripts:",
        *(f"  {name:<26} {item.summary}" for name, item in apache.items()),
        "",
        "example:",
        "  barnabas topics create orders --partitions 3 && barnabas topics describe orders",
    ]


def _print_version() -> int:
    sys.stdout.write(f"barnabas {VERSION}\n")
    return DONE


def _report_error(prefix: str, error: BarnabasError | str, code: int) -> int:
    sys.stdout.flush()
    text = str(error)
    for note in getattr(error, "__notes__", ()):
        text += "" if note.removeprefix("for ") in text else f" ({note})"
    sys.stderr.write(f"{prefix}{printable(text)}\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
