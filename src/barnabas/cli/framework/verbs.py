"""The shape of a command: a noun with verbs, each with its options and a worked example.

A noun's module declares `VERBS`; `add_verbs` turns them into sub-parsers and `run_verb` calls the
one that was chosen. A command without verbs is a module with `EXAMPLE`, `add_arguments`, `run`.
Only the chosen verb's options are made, and its module imported: help comes at once.
"""

import argparse
import importlib
import textwrap
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

Run = Callable[[argparse.Namespace], int]
AddArguments = Callable[[argparse.ArgumentParser], None]
_FUNCTIONS = ("add_arguments", "run")


class Verb(NamedTuple):
    """One verb: `example` is a command line that works, shown in its help."""

    name: str
    summary: str
    example: str
    add_arguments: AddArguments
    run: Run
    aliases: tuple[str, ...] = ()


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Keeps the lines of descriptions and examples, and uses the width there is."""

    def __init__(self, prog: str, **options: Any) -> None:
        super().__init__(prog, max_help_position=30, **options)


class VerbParser(argparse.ArgumentParser):
    """A sub-parser that gets its options when it is first used."""

    add_options: AddArguments | None = None

    def fill(self) -> None:
        """Make the options, once."""
        add, self.add_options = self.add_options, None
        if add is not None:
            add(self)

    def parse_known_args(  # type: ignore[override]
        self, args: Any = None, namespace: Any = None
    ) -> tuple[argparse.Namespace, list[str]]:
        self.fill()
        return super().parse_known_args(args, namespace)


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


def examples(text: str) -> str:
    """The epilog of a help text."""
    return "example:\n" + textwrap.indent(textwrap.dedent(text).strip(), "  ")


def add_verbs(parser: argparse.ArgumentParser, verbs: Sequence[Verb]) -> None:
    """A sub-parser for each verb."""
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
    run: Run = arguments.run_verb
    return run(arguments)
