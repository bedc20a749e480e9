"""Parsers of commands, of nouns with verbs such as `topics create`, and the loading of modules.

Options and positional arguments may be mixed: `produce orders --format json FILE`.

A noun's module declares `VERBS`; `add_verbs` creates a sub-parser for each and `run_verb`
calls the selected one. Only the options of the selected verb are created and only its module is
imported, to keep the start-up time low.
"""

import argparse
import gc
import importlib
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, NoReturn

Run = Callable[[argparse.Namespace], int]
AddArguments = Callable[[argparse.ArgumentParser], None]
_FUNCTIONS = ("add_arguments", "run")
_MISSING = ("the following arguments are required", "one of the arguments")
"""How argparse begins its messages about required arguments."""


class Verb(NamedTuple):
    """One verb; `example` is a working command line for the help text."""

    name: str
    summary: str
    example: str
    add_arguments: AddArguments
    run: Run
    aliases: tuple[str, ...] = ()


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Keeps the line breaks of descriptions and examples."""

    def __init__(self, prog: str, **options: Any) -> None:
        super().__init__(prog, max_help_position=30, **options)


class CommandParser(argparse.ArgumentParser):
    """A parser that accepts options between positional arguments and explains unknown options.

    argparse assigns positional arguments up to the first option and gives optional ones (`FILE*`)
    their defaults there, so that a later FILE would be an error. Its intermixed mode parses the
    options first. That mode does not support sub-commands, which have their own parsers.
    """

    _parses_intermixed = False
    _given: Sequence[str] = ()

    def parse_known_args(  # type: ignore[override]  # argparse has overloads
        self, args: Any = None, namespace: Any = None
    ) -> tuple[argparse.Namespace, list[str]]:
        counts = {action.nargs for action in self._get_positional_actions()}
        if not self._parses_intermixed:
            self._given = sys.argv[1:] if args is None else args
        special = {argparse.PARSER, argparse.REMAINDER} & counts
        if self._parses_intermixed or special or counts <= {None}:
            return super().parse_known_args(args, namespace)
        self._parses_intermixed = True  # that mode calls this method for each of its two passes
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._parses_intermixed = False

    def error(self, message: str) -> NoReturn:
        if message.startswith(_MISSING) or "invalid choice" in message:
            message = self._cause_of(message)
        _, found, extras = message.partition("unrecognized arguments: ")
        option = extras.partition(" ")[0].partition("=")[0]
        if found and option.startswith("-"):
            message = f"unknown option {option}{self.suggestion(option)}"
        elif found and "=" in extras:
            message += self._assignment_hint(extras)
        elif found and " " not in extras:
            message += self._file_hint(extras)
        super().error(message)

    def _cause_of(self, message: str) -> str:
        """Returns the error about a missing or wrong argument, or about the mistake that caused it.

        argparse reports unknown options last: a required option with a typo would be missing, and
        the value of an unknown option would be a wrong positional argument.
        """
        has_verbs = any(action.nargs == argparse.PARSER for action in self._actions)
        for text in self._given:
            if has_verbs and not text.startswith("-"):
                break  # options after the verb are known to the parser of the verb only
            option = text.partition("=")[0]
            known = any(name.startswith(option) for name in self._option_string_actions)
            if text.startswith("--") and len(option) > 2 and not known:
                return f"unrecognized arguments: {text}"
        first, missing = next(iter(self._given), "-"), re.search("required: (-[^/, ]*)", message)
        if missing is None or first.startswith("-") or self._get_positional_actions():
            return message
        return f"{message}; did you mean {missing[1]} {first}?"

    def _check_value(self, action: argparse.Action, value: object) -> None:
        """Adds a suggestion to the error about a wrong verb or choice."""
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            choices = [str(choice) for choice in action.choices or ()]
            hint = _suggestion(str(value), choices)
            if not hint and len(choices) == 1 and action.nargs == argparse.PARSER:
                hint = f"; did you mean {self.prog} {choices[0]} {value}?"
            raise argparse.ArgumentError(action, error.message + hint) from None

    def _assignment_hint(self, extras: str) -> str:
        """Returns a suggestion for KEY=VALUE arguments that were given without their option."""
        for action in self._actions:
            if action.metavar == "KEY=VALUE":
                return f"; did you mean {action.option_strings[-1]} {extras.split()[0]}?"
        return ""

    def _file_hint(self, name: str) -> str:
        """Returns a suggestion for a file name that was given without its option."""
        for action in self._actions:
            if action.metavar == "FILE" and action.dest in ("input", "output"):
                return f"; did you mean {action.option_strings[-1]} {name}?"
        return ""

    def suggestion(self, option: str) -> str:
        """Returns the end of an error message about an unknown option."""
        return _suggestion(option, self._option_string_actions)


def closest(given: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """Returns the known name that `given` is most likely a typo of; None if there is none.

    Args:
        given: The name that the user typed.
        known: The valid names.
        cutoff: The least similarity, as `difflib` computes it.
    """
    import difflib  # start-up time

    return next(iter(difflib.get_close_matches(given, list(known), n=1, cutoff=cutoff)), None)


def _suggestion(given: str, known: Iterable[str]) -> str:
    found = closest(given, known, cutoff=0.7)
    return "" if found is None else f"; did you mean {found}?"


class VerbParser(CommandParser):
    """A sub-parser that creates its options when it is first used."""

    add_options: AddArguments | None = None

    def fill(self) -> None:
        """Creates the options unless they exist."""
        add, self.add_options = self.add_options, None
        if add is not None:
            add(self)

    def parse_known_args(  # type: ignore[override]  # argparse has overloads
        self, args: object = None, namespace: object = None
    ) -> tuple[argparse.Namespace, list[str]]:
        self.fill()
        nested = self._parses_intermixed
        found, extras = super().parse_known_args(args, namespace)
        if extras and not nested:
            # The parser of the noun would show its own usage, which has none of the options.
            self.error(f"unrecognized arguments: {' '.join(extras)}")
        return found, extras


def in_module(name: str, verb: str = "") -> tuple[AddArguments, Run]:
    """Returns the functions of a verb that is implemented in another module.

    They are `add_arguments` and `run`, or `add_<verb>_arguments` and `run_<verb>` where a module
    has several verbs. The module is imported when one of them is called.
    """
    path = f"barnabas.cli.{name}"
    add_name, run_name = (f"add_{verb}_arguments", f"run_{verb}") if verb else _FUNCTIONS

    def add_arguments(parser: argparse.ArgumentParser) -> None:
        getattr(importlib.import_module(path), add_name)(parser)

    def run(arguments: argparse.Namespace) -> int:
        return int(getattr(importlib.import_module(path), run_name)(arguments))

    return add_arguments, run


def run_in_module(name: str) -> Run:
    """Returns a `run` that imports its module when it is called.

    The options of the verb are defined elsewhere, so that its help needs no optional extra.
    """
    return in_module(name)[1]


def examples(text: str) -> str:
    """Returns the epilog of a help text."""
    return "example:\n" + textwrap.indent(textwrap.dedent(text).strip(), "  ")


def add_verbs(parser: argparse.ArgumentParser, verbs: Sequence[Verb]) -> None:
    """Adds a sub-parser for each verb."""
    chosen = parser.add_subparsers(
        dest="verb", metavar="VERB", required=True, parser_class=VerbParser
    )
    for verb in verbs:
        sub = chosen.add_parser(
            verb.name,
            aliases=verb.aliases,
            help=verb.summary,
            description=verb.summary,
            epilog=examples(verb.example),
            formatter_class=HelpFormatter,
            allow_abbrev=False,
        )
        sub.add_options = verb.add_arguments
        sub.set_defaults(run_verb=verb.run)


def run_verb(arguments: argparse.Namespace) -> int:
    """Runs the selected verb and returns the exit code."""
    run: Run = arguments.run_verb
    return run(arguments)


def load(name: str) -> Any:
    """Imports a module with the garbage collector off: imports create no garbage, and searching
    for it costs start-up time.
    """
    gc.disable()
    try:
        return importlib.import_module(name)
    finally:
        gc.enable()
